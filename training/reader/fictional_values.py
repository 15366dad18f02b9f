"""What the slots of `fictional.txt` are filled with; all invented, or too common to belong to anybody."""

from __future__ import annotations

PHRASES: dict[str, tuple[str, ...]] = {
    "must": ("must", "has to", "is required to", "needs to", "is obliged to", "must"),
    "musts": ("must", "have to", "are required to", "need to", "must"),
    "may": ("may", "can", "is allowed to", "is free to", "is permitted to", "may"),
    "mays": ("may", "can", "are allowed to", "may"),
    "mustnot": ("must not", "may not", "is not allowed to", "cannot", "is forbidden to", "must not"),
    "mustnots": ("must not", "may not", "are not allowed to", "cannot", "must not"),
    "neednot": ("need not", "does not have to", "is not required to"),
    "neednots": ("need not", "do not have to", "are not required to"),
    "most": ("at most", "no more than", "a maximum of", "not more than", "up to"),
    "least": ("at least", "no less than", "a minimum of", "not less than"),
    "seldom": ("rarely", "seldom", "hardly ever"),
}


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", " ").split(";") if part.strip())


VALUES: dict[str, tuple[str, ...]] = {
    # in rising order where an order is meant (`RISING`)
    "n": tuple(map(str, range(2, 13))),
    "m": tuple(map(str, (*range(13, 20), *range(20, 100, 4), *range(100, 1000, 20)))),
    "pct": _list("""
        2%; 3%; 4%; 5%; 8%; 10%; 12%; 15%; 18%; 20%; 25%; 30%; 35%; 40%; 45%; 55%; 60%; 65%; 70%; 75%; 85%
    """),
    "am": _list("""
        6 am; 7 am; 7:30 am; 8 am; 8:30 am; 9 am; 9:15 am; 9:30 am; 10 am; 10:30 am; 11 am
    """),
    "pm": _list("""
        1 pm; 2 pm; 3:30 pm; 4 pm; 5 pm; 5:30 pm; 6 pm; 6:45 pm; 7 pm; 8 pm; 9:30 pm; 10 pm; 11 pm
    """),
    "year": tuple(map(str, range(1411, 2022, 3))),
    "price": (),  # made by the writer, in one currency a text
    "date": _list("""
        3 January; 14 January; 2 February; 21 February; 5 March; 30 March; 8 April; 19 April; 1 May; 16 May; 6 June;
        27 June; 10 July; 23 July; 4 August; 18 August; 9 September; 25 September; 7 October; 13 October; 11
        November; 29 November; 12 December; 20 December
    """),
    "month": _list("""
        January; February; March; April; May; June; July; August; September; October; November; December
    """),
    "freq": ("once", "twice", "three times", "four times"),
    "day": _list("""
        Monday; Tuesday; Wednesday; Thursday; Friday; Saturday; Sunday
    """),
    "unit": _list("""
        minutes; hours; days; weeks; months; years
    """),
    "code": ("200", "201", "204", "301", "400", "403", "404", "409", "410", "422", "429"),
    "place": _list("""
        swimming pool; town archive; toy museum; post office; botanical garden; climbing hall; ice rink;
        observatory; farm shop; recycling centre; tourist office; aquarium; workshop; registry office; gallery;
        mill; castle; nature centre; clinic; music school; bakery; sports hall; zoo; ferry office
    """),
    "duty": _list("""
        pay for the cleaning; provide the tools; keep the records; insure the goods; sign the form; return the keys;
        cover the postage; choose the dates; order the parts; check the list; lock the gate; feed the animals; empty
        the bins; carry the luggage; arrange the transport; inform the office; hand over the documents; clear the
        snow; inspect the roof; store the samples; update the software; repair the fence; name a witness; keep the
        receipts; water the garden; translate the contract; pay the taxes; prepare the rooms; change the locks; use
        the car park; keep pets; invite guests; copy the plans; paint the walls; sublet the office; use the kitchen;
        pay in instalments; bring a lawyer; inspect the books; take photographs; make copies; choose the colours
    """),
    "step": _list("""
        switch off the power; remove the cover; clean the valve; fill the tank; press the red button; rinse the
        rice; peel the potatoes; soak the beans; sand the wood; apply the primer; open the vent; wait for the beep;
        write down the number; unplug the cable; warm the milk; add the yeast; knead the dough; grease the tin;
        tighten the screws; insert the card; enter the code; close the lid; sign the slip; restart the router;
        install the update; accept the terms; log out; wash your hands; cut the paper
    """),
    "stuff": _list("""
        sand; lime; vinegar; sugar; flour; oil; salt; cement; honey; glue; soap; alcohol; wool; cotton; tea; copper;
        timber; olives; rice; barley; wax; paint; milk; chalk; clay; coal; wheat; butter
    """),
    "colour": _list("""
        red; green; blue; yellow; white; black; orange; purple; grey; brown; pink; silver
    """),
    "param": _list("""
        limit; timeout; page_size; retries; locale; owner; start; cursor; depth; format; region; token; interval;
        mode; scope; verbose; width; threads; target; label
    """),
    "thing": _list("""
        user; file; project; order; account; folder; key; record; branch; ticket; report; channel
    """),
    "model": _list("""
        Aspen; Borea; Comet; Delphi; Ember; Fjord; Gavia; Halden; Iris; Juno; Karo; Lumen
    """),
    "team": _list("""
        sales; design; research; support; legal; finance; export; quality; planning; press
    """),
    "per": (),  # made from first and last names
    "town": _list("""
        Ashmere; Belcourt; Calder Ford; Dunwick; Elmstead; Farrow; Glenholt; Harlow Bay; Istrin; Jarnby; Kestrel
        Point; Lowmoor; Merrin; Norvale; Oakhurst; Pellan; Quarley; Rosset; Stenby; Thornea; Ulverby; Varrick;
        Westhaven; Yarrow; Zelden; Brightwater; Castel Mar; Port Isen
    """),
    "land": _list("""
        Averland; the Duchy of Morn; Kelland; Orsia; the Republic of Tarn; Vessia; Halmark; Nordmark; Sellia
    """),
    "tongue": _list("""
        Averlandic; Kellish; Orsian; Tarnish; Vessian; Halmarkian; Old Morn; Sellian
    """),
    "job": _list("""
        baker; teacher; sailor; painter; miner; lawyer; nurse; tailor; farmer; printer; judge; carpenter; singer;
        soldier; chemist; gardener; journalist; pilot; banker; monk
    """),
    "work": _list("""
        The Long Ferry; Winter Fields; The Glass Orchard; Letters to Nobody; A House of Salt; The Third Bell; Night
        Harbour; The Blue Ladder; Seven Lanterns; The Quiet Mill; Under the Lime Trees; The Cartographer
    """),
    "feat": _list("""
        swim across the lake; climb the North Face; sail around the world; cross the desert on foot; fly a balloon
        over the mountains; win the chess title; study abroad; publish a novel; run the marathon; sit in parliament;
        build a telescope; visit the pole
    """),
    "firm": _list("""
        Harrow Press; Linden Works; Marlow Dairy; Olsen Yard; Quill Company; Rowan Bank; Sable Mines; Tideway Line;
        Umber Paints; Weston Theatre; Brook Foundation; Corvin Institute
    """),
    "name": _list("""
        Arrel; Brone; Cassel; Dorrin; Evane; Fallow; Gorse; Hessel; Illen; Jorra; Kettle; Lorne; Mossel; Nerin;
        Orrick; Perrow; Quenby; Rindle; Sarn; Tarrel; Ulmen; Vorrin; Wexley; Yste
    """),
    "group": _list("""
        islands; lakes; villages; ships; hills; bridges; rivers; farms; caves; halls; towers; gardens; roads;
        valleys; harbours; schools; clubs; machines
    """),
    "things": _list("""
        bridges; schools; wells; churches; inns; mills; libraries; parks; ponds; theatres; factories; farms;
        bakeries; fountains; towers; museums; orchards; markets
    """),
    "cause": _list("""
        fire; flood; storm; earthquake; war; avalanche; lightning; landslide
    """),
    "animal": _list("""
        marten; heron; badger; otter; lynx; newt; stork; vole; beetle; hare; pike; owl; toad; grouse; trout; stoat;
        lizard; falcon; shrew; crane
    """),
    "plant": _list("""
        clover; heather; sedge; thistle; sorrel; bracken; gorse; mallow; yarrow; nettle; sage; fennel; rush; moss
    """),
    "adj": _list("""
        dry; damp; sandy; heavy; light; acid; rich; stony; loose; low; high; short; long; round
    """),
    # verbs whose past tense is their participle
    "made": _list("""
        built; designed; founded; opened; restored; bought; sold; extended; rebuilt; planned; surveyed; paid for; saved;
        closed; visited; photographed; enlarged; repaired
    """),
    # a verb and its converse, an adjective and its opposite
    "did": _list("""
        taught/was taught by; sold a horse to/bought a horse from; lent a boat to/borrowed a boat from;
        employed/worked for; beat/lost to; invited/was invited by; sued/was sued by; praised/was praised by;
        rescued/was rescued by; succeeded/was followed by; hired/was hired by; painted/was painted by; rented a
        house to/rented a house from; owed money to/was owed money by; followed/was followed by; defended/was
        defended by; arrested/was arrested by; wrote to/received a letter from; adopted/was adopted by;
        dismissed/was dismissed by; inherited a farm from/left a farm to; defeated/was defeated by; treated/was
        treated by; betrayed/was betrayed by; gave a ring to/got a ring from; interviewed/was interviewed by;
        trained/was trained by; outlived/died before; paid/was paid by
    """),
    "comp": _list("""
        longer than/shorter than; larger than/smaller than; older than/younger than; warmer than/colder than; deeper
        than/shallower than; richer than/poorer than; faster than/slower than; heavier than/lighter than; wider
        than/narrower than; higher than/lower than; busier than/quieter than; dearer than/cheaper than; north
        of/south of; east of/west of; further away than/nearer than; brighter than/darker than
    """),
    "sup": _list("""
        largest/smallest; oldest/newest; longest/shortest; deepest/shallowest; warmest/coldest; fastest/slowest;
        busiest/quietest; heaviest/lightest; highest/lowest; driest/wettest; richest/poorest; widest/narrowest;
        nearest/farthest; cheapest/dearest; safest/most dangerous; best known/least known; steepest/flattest
    """),
}

RISING = ("n", "m", "pct", "am", "pm", "year", "price", "date", "month")
"""Kinds whose values rise with the index of their slot."""

ROLES = tuple(
    tuple(pair.split("/"))
    for pair in _list("""
        tenant/landlord; buyer/seller; guest/host; borrower/lender; contractor/client; driver/owner;
        author/publisher; trainee/trainer; supplier/customer; employee/employer; applicant/office;
        passenger/carrier; patient/clinic; keeper/zoo; agent/artist; club/member; teacher/head; hotel/traveller;
        farmer/dairy; donor/museum; pilot/airline; school/parent; sender/recipient; city/builder; bank/saver;
        coach/player; captain/crew; exhibitor/organiser
    """)
)

FIRST = _list("""
        Ada; Bruno; Clara; Dmitri; Elena; Farid; Greta; Hugo; Ines; Jonas; Kira; Leo; Mina; Nils; Olga; Pavel; Rosa;
        Samir; Tilda; Umar; Vera; Wanda; Yusuf; Zoe; Anton; Bea; Carl; Dora; Emil; Flora
    """)
LAST = _list("""
        Abbott; Brandt; Castell; Dorn; Eriksen; Falk; Gruber; Hale; Ivanek; Janda; Keller; Lind; Moreau; Novak;
        Okoye; Pereira; Quist; Rask; Sato; Thorne; Ueda; Varga; Weir; Yates; Zeman; Baro; Cole; Duarte; Engel; Ferro
    """)
