"""Small tables of English that edits are made from: written for this purpose, one group or pair a line.

WordNet, where it is at hand, widens them (`training.reader.wordnet`).
"""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


def _pairs(text: str) -> dict[str, tuple[str, ...]]:
    """`a/b` a word: each side names the other."""
    table: dict[str, tuple[str, ...]] = {}
    for entry in text.replace("\n", " ").split(";"):
        sides = [side.strip() for side in entry.split("/")]
        if len(sides) == 2:
            for one, other in (sides, sides[::-1]):
                table[one] = (*table.get(one, ()), other)
    return table


def _groups(text: str) -> dict[str, tuple[str, ...]]:
    """A line of words of one kind: each names all the others."""
    table: dict[str, tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        members = [word.strip().replace("_", " ") for word in line.split()]
        for word in members:
            known = table.get(word, ())
            table[word] = (*known, *(m for m in members if m != word and m not in known))
    return table


OPPOSITES = _pairs("""
large/small; larger/smaller; largest/smallest; big/little; bigger/smaller; high/low; higher/lower; highest/lowest;
long/short; longer/shorter; longest/shortest; tall/short; taller/shorter; old/young; older/younger; oldest/youngest;
old/new; older/newer; oldest/newest; early/late; earlier/later; earliest/latest; hot/cold; hotter/colder;
hottest/coldest; warm/cool; warmer/cooler; fast/slow; faster/slower; fastest/slowest; strong/weak; stronger/weaker;
strongest/weakest; rich/poor; richer/poorer; richest/poorest; heavy/light; heavier/lighter; heaviest/lightest;
wide/narrow; wider/narrower; deep/shallow; deeper/shallower; near/far; nearest/farthest; closer/further; hard/soft;
easy/difficult; easier/harder; cheap/expensive; cheaper/dearer; good/bad; better/worse; best/worst; more/less;
most/least; more/fewer; first/last; before/after; above/below; over/under; inside/outside; within/beyond; up/down;
upper/lower; top/bottom; front/back; left/right; increase/decrease; increased/decreased; increases/decreases;
increasing/decreasing; rise/fall; rose/fell; rising/falling; raise/lower; raised/lowered; grew/shrank; grow/shrink;
gain/loss; gained/lost; win/lose; won/lost; wins/loses; winner/loser; victory/defeat; success/failure;
successful/unsuccessful; succeeded/failed; succeed/fail; accept/reject; accepted/rejected; allow/forbid;
allowed/forbidden; allows/prevents; permitted/prohibited; legal/illegal; lawful/unlawful; include/exclude;
includes/excludes; included/excluded; including/excluding; open/closed; opened/closed; opens/closes; open/close;
begin/end; begins/ends; began/ended; beginning/end; start/stop; started/stopped; starts/stops; arrive/leave;
arrived/left; enter/exit; entered/left; join/leave; joined/left; buy/sell; bought/sold; borrow/lend; borrowed/lent;
import/export; imported/exported; imports/exports; support/oppose; supported/opposed; supports/opposes; agree/disagree;
agreed/disagreed; love/hate; loved/hated; like/dislike; remember/forget; attack/defend; attacked/defended;
build/destroy; built/destroyed; create/destroy; created/destroyed; appear/disappear; appeared/disappeared;
positive/negative; positively/negatively; true/false; correct/incorrect; right/wrong; real/fake; public/private;
male/female; man/woman; men/women; boy/girl; boys/girls; father/mother; son/daughter; sons/daughters; brother/sister;
brothers/sisters; husband/wife; king/queen; uncle/aunt; his/her; he/she; him/her; rural/urban; major/minor;
majority/minority; maximum/minimum; expand/contract; expanded/reduced; ancient/modern; internal/external; inner/outer;
domestic/foreign; local/national; permanent/temporary; permanently/temporarily; common/rare; commonly/rarely;
frequent/rare; frequently/rarely; usually/rarely; often/seldom; often/never; always/never; always/sometimes;
everyone/no one; everything/nothing; everywhere/nowhere; all/none; many/few; both/neither; with/without; alive/dead;
born/died; empty/full; wet/dry; clean/dirty; safe/dangerous; peace/war; friend/enemy; ally/enemy; allies/enemies;
alone/together; visible/invisible; possible/impossible; likely/unlikely; able/unable; known/unknown; popular/unpopular;
similar/different; same/different; simple/complex; main/secondary; primary/secondary; partial/complete;
partially/completely; partly/entirely; only/also; mandatory/optional; required/optional; required/forbidden;
voluntary/compulsory; free/paid; guilty/innocent; convicted/acquitted; married/divorced; day/night; morning/evening;
summer/winter; land/sea; import/export; supply/demand; profit/loss; credit/debit; income/expenditure; teacher/student;
teachers/students; doctor/patient; doctors/patients; employer/employee; employers/employees; tenant/landlord;
buyer/seller; parent/child; parents/children; attacker/victim; predator/prey; cause/effect; question/answer;
north/south; northern/southern; east/west; eastern/western; northeast/southwest;
northwest/southeast; northward/southward;
acid/alkaline; conscious/unconscious; active/inactive; add/remove; added/removed; adds/removes; enable/disable;
enabled/disabled; enables/disables; encrypt/decrypt; upload/download; install/uninstall; default/custom; input/output;
read/write; sender/receiver; client/server; minimum/maximum; push/pull; attract/repel; attracted/repelled;
wealthy/poor; optimistic/pessimistic; agree/refuse; agreed/refused; praise/criticise; praised/criticized;
improve/worsen; improved/worsened; improves/worsens; strengthen/weaken; strengthened/weakened; confirmed/denied;
confirm/deny; admitted/denied; approved/rejected; protect/harm; protects/harms; heated/cooled; heating/cooling;
effective/ineffective; significant/insignificant; sufficient/insufficient; direct/indirect; directly/indirectly;
formal/informal; official/unofficial; regular/irregular; equal/unequal; stable/unstable; related/unrelated;
single/multiple; single/double; half/double; twice/once; monthly/yearly; daily/weekly; annual/monthly; annually/monthly
""")
"""Words that make a sentence say the opposite, or something that cannot be so as well."""

KINDS = _groups("""
January February March April May June July August September October November December
Monday Tuesday Wednesday Thursday Friday Saturday Sunday
red blue green yellow black white brown orange purple pink grey
spring summer autumn winter
north south east west
northern southern eastern western central
second minute hour day week month year decade century
seconds minutes hours days weeks months years decades centuries
metres kilometres miles feet inches yards
meters kilometers miles feet inches yards
grams kilograms pounds ounces tonnes tons
dollars euros pounds yen francs rupees
cents pence
percent permille
km mi ft m cm mm
million billion thousand trillion hundred
British French German Italian Spanish Dutch Russian Chinese Japanese American Canadian Australian Indian
Irish Polish Greek Swedish Turkish Mexican Brazilian German British
English French German Italian Spanish Dutch Russian Chinese Japanese Portuguese Latin Arabic Hindi
Britain France Germany Italy Spain Russia China Japan Canada Australia India
Ireland Poland Greece Sweden Turkey Mexico Brazil Egypt France Germany
London Paris Berlin Rome Madrid Moscow Beijing Tokyo Dublin Athens Vienna Chicago Boston
Europe Asia Africa America Australia Antarctica
Christianity Islam Judaism Buddhism Hinduism
Catholic Protestant Orthodox Muslim Jewish Buddhist Hindu
Earth Mars Venus Mercury Jupiter Saturn Neptune Uranus
gold silver bronze copper iron lead tin zinc
oxygen hydrogen nitrogen carbon helium sulfur
president king emperor prime_minister governor mayor senator chancellor
actor singer writer painter director producer composer dancer poet
lawyer doctor teacher engineer architect farmer soldier priest scientist
football basketball baseball tennis cricket hockey golf rugby
guitar piano violin drums trumpet flute bass saxophone
novel film song album play poem opera musical
book magazine newspaper letter
city town village county province district
state country kingdom empire republic
river lake sea ocean mountain valley desert forest island
school university college hospital church library museum prison
car bus train ship plane bicycle boat truck
dog cat horse cow sheep pig goat bird fish
heart liver kidney lung brain stomach skin
eye ear nose mouth hand foot arm leg
father mother brother sister uncle aunt cousin grandfather grandmother
son daughter nephew niece grandson
breakfast lunch dinner
bread rice meat cheese milk sugar salt
water wine beer coffee tea milk juice
morning afternoon evening night
navy army air_force
battle siege treaty election revolution
first second third fourth fifth sixth seventh eighth ninth tenth
once twice
democracy monarchy dictatorship
stone wood glass steel brick concrete
email letter telephone post
cash card cheque
circle square triangle
adults children teenagers
monday tuesday wednesday thursday friday saturday sunday
""")
"""Things of one kind: where one is true another is usually false."""

STRONGER = {
    "some": ("all", "most", "no"),
    "many": ("all", "few", "most"),
    "most": ("all", "few", "no"),
    "several": ("all", "no", "two"),
    "a few": ("many", "all"),
    "often": ("always", "never"),
    "usually": ("always", "never"),
    "sometimes": ("always", "never"),
    "generally": ("always", "never"),
    "mainly": ("only", "never"),
    "mostly": ("only", "entirely"),
    "partly": ("entirely",),
    "almost": ("more than",),
    "nearly": ("more than",),
    "about": ("exactly", "less than half of"),
    "at least": ("at most", "exactly", "less than"),
    "at most": ("at least", "more than"),
    "up to": ("at least", "more than"),
    "more than": ("less than", "fewer than", "at most"),
    "less than": ("more than", "at least"),
    "fewer than": ("more than", "at least"),
    "no more than": ("at least", "more than"),
    "one of the": ("the only one of the", "none of the"),
    "may": ("must", "cannot", "never"),
    "might": ("will certainly", "cannot"),
    "can": ("cannot", "must"),
    "could": ("could not", "had to"),
    "must": ("need not", "must not", "may"),
    "should": ("should not", "need not"),
    "has to": ("does not have to", "must not"),
    "have to": ("do not have to", "must not"),
    "will": ("will not",),
    "would": ("would not",),
    "each": ("only one", "no"),
    "every": ("not every", "no"),
    "all": ("only some", "none of", "not all"),
    "always": ("sometimes", "rarely", "never"),
    "never": ("always", "often", "sometimes"),
    "only": ("not only", "never"),
    "none": ("all", "some"),
    "no": ("some", "every"),
    "until": ("from", "after"),
    "since": ("until", "before"),
    "during": ("before", "after"),
    "because of": ("in spite of", "despite"),
    "because": ("although",),
    "despite": ("because of", "due to"),
    "unless": ("only if", "if"),
    "except": ("including", "especially on"),
    "if": ("unless",),
    "together with": ("without",),
    "instead of": ("together with", "as well as"),
    "rather than": ("as well as",),
    "believed to be": ("proven to be",),
    "alleged": ("proven",),
    "reportedly": ("certainly",),
    "planned to": ("refused to", "managed to"),
    "tried to": ("managed to", "refused to"),
    "expected to": ("certain to", "unlikely to"),
}
"""Words of how much, how often, how surely: what the sentence then no longer says."""

SAME = _pairs("""
began/started; begin/start; begins/starts; large/big; located in/situated in; approximately/about; about/around;
about/roughly; nearly/almost; also known as/also called; known as/called; however/but; in order to/to; because/since;
such as/like; many/numerous; several/a number of; received/got; obtained/got; purchased/bought; purchase/buy;
constructed/built; established/founded; created/made; died/passed away; film/movie; films/movies; children/kids;
United States/US; United States/USA; United Kingdom/UK; television/TV; per cent/percent; assist/help;
assisted/helped; commenced/began; concluded/ended; ended/finished; however/nevertheless; often/frequently;
usually/normally; mainly/mostly; primarily/mainly; entire/whole; rapidly/quickly; currently/at present;
additionally/in addition; therefore/thus; due to/because of; prior to/before; following/after; until/till;
among/amongst; while/whilst; toward/towards; must/has to; may/might; wrote/authored; employed/hired; leave/depart;
attempted to/tried to; attempt/try; required/needed; requires/needs; require/need; demonstrated/showed;
demonstrate/show; shows/demonstrates; participated in/took part in; consists of/is made up of; contains/holds;
includes/contains; occurred/happened; occurs/happens; occur/happen; remained/stayed; remains/stays;
responsible for/in charge of; significant/important; primary/main; principal/main; former/ex; famous/well-known;
wealthy/rich; ill/sick; difficult/hard; simple/easy; fast/quick; huge/enormous; small/little; error/mistake;
physician/doctor; physicians/doctors; automobile/car; automobiles/cars; residence/home; residents/inhabitants;
population/number of inhabitants; author/writer; soldiers/troops; conflict/war; kids/children;
relocated to/moved to; returned to/went back to; resigned/stepped down; elected/voted in; appointed/named;
became/turned into; refused/declined; discovered/found; defeated/beat; murdered/killed; raised/brought up;
completed/finished; launched/started; released/published; permitted/allowed; prohibited/forbidden; altered/changed;
modified/changed; selected/chosen; chose/picked; displayed/shown; described as/portrayed as; considered/regarded as;
utilized/used; utilised/used; use/employ; within/inside; near/close to; more than/over; less than/under;
at least/no fewer than; a majority of/most; each/every; twice/two times; yearly/annually; annual/yearly; maximum/most
""")
"""Words that may stand for each other without changing what is said (in most sentences)."""

for _vague in _words(
    "to over under since after about like around close to got finished helped holds ex try need needs keep shown "
    "changed chosen start end town main mistake employ small"
):
    SAME.pop(_vague, None)  # these mean too many other things

PASSIVE = {
    "written": "wrote", "directed": "directed", "produced": "produced", "founded": "founded", "built": "built",
    "designed": "designed", "painted": "painted", "composed": "composed", "invented": "invented",
    "discovered": "discovered", "defeated": "defeated", "killed": "killed", "created": "created",
    "developed": "developed", "established": "established", "published": "published", "performed": "performed",
    "recorded": "recorded", "released": "released", "led": "led", "owned": "owned", "replaced": "replaced",
    "succeeded": "succeeded", "played": "played", "portrayed": "portrayed", "conquered": "conquered",
    "captured": "captured", "destroyed": "destroyed", "introduced": "introduced", "proposed": "proposed",
    "signed": "signed", "appointed": "appointed", "influenced": "influenced", "inspired": "inspired",
    "attacked": "attacked", "sponsored": "sponsored", "funded": "funded", "supported": "supported",
    "approved": "approved", "adopted": "adopted", "hosted": "hosted", "won": "won", "ruled": "ruled",
    "governed": "governed", "followed": "followed", "caused": "caused", "used": "used", "sung": "sang",
}  # fmt: skip
"""Past participles of verbs whose passive turns around without harm, and their past tense."""

NUMBERS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
MONTHS = _words("January February March April May June July August September October November December")
