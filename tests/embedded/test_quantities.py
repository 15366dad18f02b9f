"""Numbers, amounts, times and dates are values: equal ones are found, different ones are not."""

from __future__ import annotations

import pytest

from intrinsics_core.embedded.scoring.keys import claim, clean, keys_of
from intrinsics_core.embedded.scoring.quantities import quantities

EQUAL = [
    # number
    ("It has twelve rooms.", "It has 12 rooms."),
    ("It has 1,200 seats.", "It has 1200 seats."),
    ("About one hundred and twenty people came.", "About 120 people came."),
    ("It sold 1.5 million copies.", "It sold 1,500,000 copies."),
    ("Half a dozen eggs.", "6 eggs."),
    ("Two dozen eggs.", "24 eggs."),
    ("On the third floor.", "On the 3rd floor."),
    ("On floor 3.", "On the third floor."),
    ("Twenty-five members.", "25 members."),
    ("The tide mill has 07 wheels.", "The tide mill has 7 wheels."),
    ("The mill was built in 1945.", "The mill was built in nineteen forty-five."),
    ("The mill was built in nineteen hundred and three.", "The mill was built in 1903."),
    ("The mill was built in nineteen oh five.", "The mill was built in 1905."),
    ("Take 1/2 cup of flour.", "Take ½ cup of flour."),
    ("Take half a cup of flour.", "Take ½ cup of flour."),
    ("It has 24 rooms.", "It has 24rooms."),
    ("It has 300 seats.", "It has 300¹ seats."),
    ("It has 1,200 seats.", "It has 1\u2009200 seats."),
    # share and money
    ("The fee rose by 12 percent.", "The fee rose by 12%."),
    ("The fee rose by twelve per cent.", "The fee rose by 12 %."),
    ("It costs 12.50 euros.", "It costs €12.50."),
    ("It costs EUR 12.50.", "It costs 12,50 €."),
    ("It costs 1,500 dollars.", "It costs $1500."),
    ("It costs $3 million.", "It costs 3,000,000 dollars."),
    ("It costs 10 000 euros.", "It costs €10,000."),
    ("It costs 1,200 euros.", "It costs 1.200,00 €."),
    ("It costs 1,200 euros.", "It costs 1\u2009200 €."),
    ("It costs 1,200 euros.", "It costs 1200,- €."),
    ("It costs 1,200 francs.", "It costs CHF 1'200.–."),
    ("It costs 20 euros.", "It costs 20¹ euros."),
    ("It costs fifty cents.", "It costs €0.50."),
    ("A ticket is five pounds.", "A ticket is £5."),
    # mass, length, volume
    ("The parcel weighs 500 g.", "The parcel weighs half a kilo."),
    ("The parcel weighs 1.5 kg.", "The parcel weighs 1500 grams."),
    ("Add 250 ml of milk.", "Add a quarter of a litre of milk."),
    ("Add 0.5 l of milk.", "Add half a litre of milk."),
    ("The path is 2 km long.", "The path is 2,000 metres long."),
    ("The shelf is 80cm wide.", "The shelf is 0.8 m wide."),
    ("The flat has 64 m².", "The flat has 64 m2."),
    ("The flat has 64 sqm.", "The flat has 64 square metres."),
    ("The flat has 64m2.", "The flat has 64 m²."),
    ("The farm has 25 hectares.", "The farm has 250,000 m²."),
    ("The tank holds 3 m³.", "The tank holds 3000 litres."),
    ("The table is two hundred centimetres long.", "The table is 2 m long."),
    ("Keep it at 5 °C.", "Keep it at 5 degrees Celsius."),
    ("He is 5 feet 10 inches tall.", "He is 70 inches tall."),
    # duration
    ("It takes 90 minutes.", "It takes an hour and a half."),
    ("It takes 1 hour 30 minutes.", "It takes 90 min."),
    ("It takes two and a half hours.", "It takes 150 minutes."),
    ("It takes 2½ hours.", "It takes 2.5 hours."),
    ("Within a day.", "Within 24 hours."),
    ("Within two weeks.", "Within 14 days."),
    ("Within a fortnight.", "Within two weeks."),
    ("The warranty is 24 months.", "The warranty is two years."),
    ("Wait a quarter of an hour.", "Wait 15 minutes."),
    ("Wait 5 minutes.", "Wait 5 to 10 minutes."),
    ("Wait 5 minutes.", "Wait 5, 10 or 15 minutes."),
    # time of day
    ("It closes at 9 p.m.", "It closes at 21:00."),
    ("It closes at 21:00.", "It closes at nine in the evening."),
    ("It closes at 10:30 pm.", "It closes at 22:30."),
    ("It closes at half past nine.", "It closes at 9:30."),
    ("It closes at a quarter to ten.", "It closes at 9:45."),
    ("It closes at noon.", "It closes at 12:00."),
    ("It closes at 3 pm.", "It closes at 15h00."),
    ("It closes at 3 pm.", "It closes at 15.00 hrs."),
    ("It takes two and a half hours.", "It takes 2h30."),
    ("It closes in the evening.", "It closes at 21:00."),
    ("It opens at 9 am.", "It opens at 9."),
    ("It opens at 9.", "Open 9-5 pm."),
    ("It closes at 5 pm.", "Open 9-17:00."),
    ("It closes at ten.", "It closes at 22:00."),
    # date
    ("It is shut on 25 December.", "It is shut on Christmas Day."),
    ("It is shut on December 25th.", "It is shut on 25.12."),
    ("It was signed on 3 Sept 2004.", "It was signed on September 3, 2004."),
    ("It was signed on 2004-09-03.", "It was signed on 3 September 2004."),
    ("It was signed on 14 May 2024.", "It was signed on 14.05.2024."),
    ("It was signed on 14 May 2024.", "It was signed on 14-05-2024."),
    ("It was signed on 14 May 2024.", "It was signed on 14/05/24."),
    ("It was signed on 14-May-2024.", "It was signed on 2024/05/14."),
    ("The fair opens on 3 May.", "The fair is on 3-5 May."),
    ("The fair ends on May 5.", "The fair is from 3 to 5 May."),
    # a table has no units in its cells
    ("The parcel weighs 5 kg.", "weight in kg: 5"),
    ("It weighs 5.", "It weighs 5 kg."),
]

DIFFERENT = [
    ("It has twelve rooms.", "It has 13 rooms."),
    ("It has twelve rooms.", "It has two rooms."),
    ("The fee rose by 12 percent.", "The fee rose by 12 euros."),
    ("It costs $12.", "It costs €12."),
    ("It costs 12 euros.", "It costs 12 cents."),
    ("The parcel weighs 500 g.", "The parcel weighs 500 kg."),
    ("The parcel weighs 5 kg.", "The shelf is 5 m wide."),
    ("The flat has 54 m².", "The flat has 64 m2."),
    ("The flat has 64 m².", "The flat is 64 m wide."),
    ("It costs 1,300 euros.", "It costs 1.200,00 €."),
    ("It costs 20 euros.", "It costs 201 euros."),
    ("The mill was built in 1945.", "The mill was built in nineteen fifty-four."),
    ("Take 1/3 cup of flour.", "Take ½ cup of flour."),
    ("It closes at 3 pm.", "It closes at 16h00."),
    ("Add half a litre of milk: 0.5 l.", "Add 0.25 l of milk."),
    ("It takes 90 minutes.", "It takes 90 seconds."),
    ("It takes 1 hour 30 minutes.", "It takes 1 hour 45 minutes."),
    ("Within 24 hours.", "Within 24 days."),
    ("The warranty is 2 years.", "The warranty is 2 months."),
    ("It closes at 9 p.m.", "It closes at 9 a.m."),
    ("It closes at 21:00.", "It closes at 22:00."),
    ("It closes at half past nine in the evening: 9:30 pm.", "It closes at 9 pm."),
    ("It is shut on 25 December.", "It is shut on 25 January."),
    ("It is shut on 24 December.", "It is shut on Christmas Day."),
    ("It was signed on 3 September 2004.", "It was signed on 2005-09-03."),
    ("It was signed on 15 May 2024.", "It was signed on 14.05.2024."),
    ("It was signed on 5 June 2024.", "It was signed on 06.05.2024."),
    ("It was signed on 5 June 2024.", "It was signed on 06/05/2024, and ended on 20/05/2024."),
    ("It sold 1.5 million copies.", "It sold 1.5 billion copies."),
    ("Wait 20 minutes.", "Wait 5, 10 or 15 minutes."),
]


def lacks(sentence: str, source: str) -> list[str]:
    """The numbers and units of a sentence that a source does not hold."""
    keys, text = keys_of(source), clean(sentence)
    spans = [text[each.begin : each.end].casefold() for each in quantities(text)]
    return [
        unit.text
        for unit in claim(sentence).units
        if not unit.keys & keys and (unit.is_number or any(unit.text.casefold() in span for span in spans))
    ]


@pytest.mark.parametrize(("sentence", "source"), EQUAL)
def test_equal_values_are_found(sentence: str, source: str) -> None:
    assert lacks(sentence, source) == []


@pytest.mark.parametrize(("sentence", "source"), DIFFERENT)
def test_different_values_are_not(sentence: str, source: str) -> None:
    assert lacks(sentence, source)


@pytest.mark.parametrize(
    "text", ["version 1.2.3", "B12", "the 1990s", "192.168.0.1", "it may 10", "", "1/0 of it", "10⁶ of it"]
)
def test_what_is_no_quantity_is_left_alone(text: str) -> None:
    assert not any(each.keys for each in quantities(text))


@pytest.mark.parametrize(
    "piece",
    [
        "1 ",
        "one hundred and ",
        "9:00 - ",
        "half a ",
        "3 May - ",
        "½",
        "1.000.",
        "1 hour ",
        "1.000,",
        "14.05.2024 ",
        "twenty ",
        "1¹",
    ],
)
def test_a_text_of_nothing_but_numbers_is_read(piece: str) -> None:
    """No pattern takes more than linear time: `python -m benchmarks.patterns` measures all of them."""
    assert keys_of(piece * 500)
