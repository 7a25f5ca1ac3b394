"""The report in a real browser: it answers as `predict` does, by keyboard too, in both themes and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Visit, started
from hostile import ALL_PIECES, PIECES
from mixed_tables import mixed_table
from playwright.sync_api import Browser
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    Summary,
    write_report,
)
from rulecover.show.text import printable

ODD = ["<b>x</b>", "\"double\" and 'single'", "emoji 😀 體重", "long " * 40, "</script><script>alert(1)</script>"]
THEMES = ["light", "dark"]
DESKTOP, PHONE = (1280, 900), (390, 800)


def forest(**settings: Any) -> RandomForestClassifier:
    return RandomForestClassifier(**{"n_estimators": 10, "max_depth": 4, "random_state": 0, **settings})


def biopsies() -> tuple[Any, Any]:
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target_names[data.target]


def with_gaps() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X.mask(np.random.default_rng(0).random(X.shape) < 0.15), y


def with_categories() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(0)
    colours = np.array(["red", "blue", "<b>green</b>", "grey"])[(y + (rng.random(150) < 0.4)) % 4]
    return X.iloc[:, :2].assign(colour=pd.Categorical(colours)), y


def odd() -> tuple[Any, Any]:
    X, y = biopsies()
    names = [*ODD, *(f"f{k}" for k in range(25))]
    return X.set_axis(names, axis=1).iloc[:, :8], np.where(y == "benign", "<i>benign</i>", "y" * 200)


def diabetes() -> tuple[Any, Any]:
    return load_diabetes(return_X_y=True, as_frame=True)


def noise() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(600, 8)), columns=list("abcdefgh")), rng.integers(0, 3, 600)


def five_classes() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 4)), columns=["height", "width", "depth", "weight"]).round(2)
    which = np.digitize(X["height"] + 0.5 * X["width"] + rng.normal(0, 0.2, 600), [-1.2, -0.3, 0.4, 1.2])
    return X, np.array(["very small", "small", "medium", "large", "very large"])[which]


def leavers() -> tuple[Any, Any]:
    """Texts, truth values, dates and gaps; about one in twelve leaves."""
    X, y = mixed_table(700, 0)
    rng = np.random.default_rng(1)
    return X, np.where((y == "yes") & (X["hired"] > pd.Timestamp("2020-11-01")) & (rng.random(700) < 0.5), "yes", "no")


def prices() -> tuple[Any, Any]:
    X, _ = mixed_table(500, 0)
    days = (X["hired"] - pd.Timestamp("2019-06-01")).dt.days.fillna(400)
    return X, (100 + 40 * (X["colour"] == "red") + days / 10 + 30 * X["paid"]).to_numpy(dtype=float)


#: For each name the model to be fitted, and its data.
MODELS: dict[str, tuple[Any, Any]] = {
    "two classes": (MIRCOClassifier(forest()), biopsies),
    "few rules, closest": (MIRCOClassifier(forest(), max_rules=3), with_gaps),
    "few rules, all": (MIRCOClassifier(forest(), max_rules=3, fallback="all", vote="shares"), with_gaps),
    "few rules, majority": (MIRCOClassifier(forest(), max_rules=2, fallback="majority"), with_gaps),
    "categories": (
        MIRCOClassifier(
            HistGradientBoostingClassifier(max_iter=4, categorical_features="from_dtype", random_state=0), max_rules=6
        ),
        with_categories,
    ),
    "odd names": (MIRCOClassifier(forest(max_depth=3)), odd),
    "boosting": (RCBoostClassifier(max_rmp_calls=4, random_state=0), with_gaps),
    "path": (RulePathClassifier(forest(), max_rules=6, choose="last", random_state=0), biopsies),
    "path of numbers": (RulePathRegressor(max_rules=6, choose="last", random_state=0), diabetes),
    "means": (MIRCORegressor(max_rules=6, ridge=None, random_state=0), diabetes),
    "means, closest": (MIRCORegressor(max_rules=3, ridge=None, fallback="closest", random_state=0), diabetes),
    "fitted values": (MIRCORegressor(max_rules=6, random_state=0), diabetes),
    "fitted values, all": (MIRCORegressor(max_rules=3, fallback="all", random_state=0), diabetes),
    "five classes": (RulePathClassifier(forest(), max_rules=12, choose="last", random_state=0), five_classes),
    "rare, with texts and dates": (
        RulePathClassifier(forest(max_depth=6), max_rules=10, choose="last", random_state=0),
        leavers,
    ),
    "numbers, with texts and dates": (RulePathRegressor(max_rules=10, choose="last", random_state=0), prices),
    "boosted numbers": (RCBoostRegressor(max_rmp_calls=3, random_state=0), diabetes),
}


MIXED = ("five classes", "rare, with texts and dates", "numbers, with texts and dates")


class Report:
    """A fitted model, the rows that it was not fitted on, and its report."""

    def __init__(self, folder: Path, name: str, model: Any, data: Any) -> None:
        X, y = data()
        self.model = model.fit(X[::2], y[::2])
        self.X, self.y = X[1::2], y[1::2]
        self.summary = Summary.of(self.model, self.X, self.y, title=name, notes=["Every other row was held out."])
        self.path = write_report(self.summary, folder / f"{name}.html")

    @property
    def columns(self) -> list[dict[str, Any]]:
        assert self.summary.trial is not None
        return self.summary.trial.columns


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as one:
        yield one


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    folder = tmp_path_factory.mktemp("reports")
    made = {name: Report(folder, name, *of) for name, of in MODELS.items()}
    made["many rules"] = Report(
        folder, "many rules", MIRCOClassifier(forest(n_estimators=60, max_depth=12), demand=30), noise
    )
    return made


def visit(browser: Browser, report: Report, size: tuple[int, int] = DESKTOP, theme: str = "light") -> Visit:
    for context in browser.contexts[:-1]:  # two pages may be compared
        context.close()
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    context.set_default_timeout(10_000)
    return Visit(context.new_page(), report.path)


# Answers -------------------------------------------------------------------------------------------------------------


def random_rows(report: Report, n: int = 40) -> Any:
    """Rows of values from different held-out rows, on bounds and beside them, unknown and missing ones among them."""
    rng = np.random.default_rng(0)
    X = report.X.iloc[rng.integers(0, len(report.X), n)].reset_index(drop=True)
    for name in X.columns:
        X[name] = report.X[name].sample(n, replace=True, random_state=int(rng.integers(1000))).to_numpy()
    for column in report.columns:
        (feature,) = column["features"]
        if feature >= report.X.shape[1]:  # made of dates
            continue
        name = report.X.columns[feature]
        if column["kind"] == "number":
            bounds = np.array(column["near"])
            X[name] = X[name].astype(float)
            near = np.concatenate([bounds, np.nextafter(bounds, np.inf), np.nextafter(bounds, -np.inf)])
            X.loc[rng.random(n) < 0.4, name] = rng.choice(near)
            if column["missing"]:
                X.loc[rng.random(n) < 0.15, name] = np.nan
    return X


def typed(report: Report, row: Any) -> list[str]:
    """What goes into the fields for a row."""
    texts, parts = [], report.model.rules_.columns.parts
    for column in report.columns:
        (feature,) = column["features"]
        part = parts.get(feature)
        value = row[report.X.columns[feature]] if part is None else part.read(np.array([row[part.name]]))[0]
        if column.get("date"):
            texts.append("" if pd.isna(value) else str(row[part.name].date()))
        elif column["kind"] == "number":
            texts.append("" if pd.isna(value) else repr(float(value)))
        else:
            texts.append(str(column["names"].index("missing" if pd.isna(value) else printable(str(value)))))
    return texts


@pytest.mark.parametrize("name", MODELS)
def test_editing_values_gives_the_answer_of_predict(browser: Browser, reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    open_page = visit(browser, report)
    X = random_rows(report)
    said, fired = report.model.predict(X), report.model.apply(X).toarray()
    missed = 0
    for k in range(len(X)):
        open_page.fill(typed(report, X.iloc[k]))
        verdict = open_page.verdict()
        if isinstance(said[k], float):
            assert float(verdict["prediction"]) == pytest.approx(said[k], rel=1e-12)
        else:
            assert verdict["prediction"] == printable(str(said[k]))
        assert verdict["fired"] == ",".join(map(str, np.flatnonzero(fired[k])))
        missed += not fired[k].any()
    assert missed > 0 or not name.startswith("few rules")
    open_page.is_fine()


def test_probabilities_are_those_of_predict_proba(browser: Browser, reports: dict[str, Report]) -> None:
    report = reports["path"]
    open_page = visit(browser, report)
    open_page.fill(typed(report, report.X.iloc[3]))
    shown = open_page.page.locator("#votes li").all_inner_texts()
    shares = dict(zip(report.model.classes_, report.model.predict_proba(report.X.iloc[[3]])[0], strict=True))

    assert len(shown) == 2
    for line in shown:
        name, share = line.split()[0], line.split()[-2].lstrip("<>")
        assert abs(100 * shares[name] - float(share)) <= 1


@pytest.mark.parametrize("name", ["few rules, closest", "categories", "path of numbers"])
def test_picking_a_row_fills_it_in(browser: Browser, reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    open_page = visit(browser, report)
    said = report.model.predict(report.X)
    assert report.summary.trial is not None
    for place, row in list(enumerate(report.summary.trial.rows))[::12]:
        open_page.page.select_option("#pick", str(place))
        shown = open_page.verdict()["prediction"]
        expected = said[row["number"]]
        assert shown == str(expected) or float(shown) == pytest.approx(float(expected), rel=1e-12)
        assert "In the data this row is" in open_page.page.inner_text("#truth")


def test_what_is_offered_changes_the_answer(browser: Browser, reports: dict[str, Report]) -> None:
    report = reports["two classes"]
    open_page = visit(browser, report)
    offers = open_page.page.locator("#changes button")
    offers.first.wait_for()
    before, promised = open_page.verdict()["prediction"], offers.first.inner_text().split("gives ")[1]
    offers.first.click()

    assert open_page.verdict()["prediction"] == promised != before
    assert "You have changed this row" in open_page.page.inner_text("#truth")


@pytest.mark.parametrize("name", ["rare, with texts and dates", "numbers, with texts and dates"])
def test_dates_are_typed_and_offered_as_dates(browser: Browser, reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    open_page = visit(browser, report)
    place = next(c for c, column in enumerate(report.columns) if column.get("date"))
    field = open_page.page.locator(f"#field-{place}")

    assert report.columns[place]["name"] == "hired"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", field.input_value())
    field.fill("yesterday")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("2020-02-29")
    assert field.get_attribute("aria-invalid") is None
    assert "days since" not in open_page.page.inner_text("body")
    open_page.is_fine()


def test_a_text_that_is_no_number_is_marked_and_changes_nothing(browser: Browser, reports: dict[str, Report]) -> None:
    open_page = visit(browser, reports["two classes"])
    before = open_page.verdict()
    field = open_page.page.locator("#field-0")
    field.fill("12,5 kg")

    assert field.get_attribute("aria-invalid") == "true"
    assert open_page.verdict() == before
    field.fill("12.5")
    assert field.get_attribute("aria-invalid") is None


def test_a_value_that_never_was_missing_cannot_be_taken_away(browser: Browser, reports: dict[str, Report]) -> None:
    open_page = visit(browser, reports["two classes"])
    before = open_page.verdict()
    for c in range(len(reports["two classes"].columns)):
        field = open_page.page.locator(f"#field-{c}")
        field.fill("")
        assert field.get_attribute("aria-invalid") == "true" and field.get_attribute("placeholder") is None
    open_page.page.locator("#changes button").first.wait_for()

    assert open_page.verdict() == before
    assert "→ missing" not in open_page.page.inner_text("#changes")


def test_where_the_model_would_be_asked_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    report = Report(tmp_path, "asks", MIRCOClassifier(forest(), max_rules=1, fallback="model"), with_gaps)
    missed = int(np.flatnonzero(report.model.missed(report.X))[0])
    open_page = visit(browser, report)
    assert report.summary.trial is not None
    place = next(k for k, row in enumerate(report.summary.trial.rows) if row["number"] == missed)
    open_page.page.select_option("#pick", str(place))

    assert open_page.verdict() == {"prediction": "", "decided": "model", "fired": ""}
    assert f"The model predicts {report.model.predict(report.X)[missed]}" in open_page.page.inner_text("#truth")
    open_page.is_fine()


def steps(open_page: Visit) -> list[float]:
    """The numbers of the waterfall, its start first and its sum last."""
    texts = open_page.page.locator("#waterfall li .number").all_inner_texts()
    return [float(text.replace("−", "-").replace("+", "")) for text in texts]


@pytest.mark.parametrize("name", ["path", "path of numbers", "two classes"])
def test_the_waterfall_ends_at_the_prediction(browser: Browser, reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    open_page = visit(browser, report)
    said, shown = report.model.predict(report.X), 0
    for k in range(0, len(report.X), 9):
        open_page.fill(typed(report, report.X.iloc[k]))
        found = steps(open_page)
        if not report.model.apply(report.X.iloc[[k]]).toarray().any():
            assert found == []
            continue
        shown += 1
        assert sum(found[:-1]) == pytest.approx(found[-1], rel=1e-2, abs=0.05)
        if isinstance(said[k], float):
            assert found[-1] == pytest.approx(said[k], rel=1e-3)
        else:
            assert found[-1] >= 0
    assert shown
    open_page.is_fine()


def test_a_threshold_is_dragged_along_the_curves(browser: Browser, reports: dict[str, Report]) -> None:
    report = reports["two classes"]
    open_page = visit(browser, report)
    slider, said = open_page.page.locator("#threshold"), open_page.page.locator("#at-threshold")
    before = said.inner_text()
    slider.focus()
    open_page.page.keyboard.press("End")
    rows = int((report.y == "malignant").sum())

    assert said.inner_text() != before
    assert f"{rows} of {rows} are found (recall 1.000)" in said.inner_text()
    assert float(open_page.page.locator("#dot-roc").get_attribute("cx") or 0) == 100
    open_page.is_fine()


# The table -----------------------------------------------------------------------------------------------------------


def test_the_table_sorts_by_each_column_up_and_down(browser: Browser, reports: dict[str, Report]) -> None:
    report = reports["two classes"]
    open_page = visit(browser, report)
    support = report.model.rules_.evidence.support
    samples = open_page.page.get_by_role("button", name="Support")
    samples.click()

    assert open_page.rules() == [str(j) for j in np.argsort(-support, kind="stable")]
    samples.click()
    shown = [support[int(j)] for j in open_page.rules()]
    assert shown == sorted(shown)
    assert open_page.page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    for heading in open_page.page.locator("table.rules thead button").all():
        heading.click()
        assert sorted(open_page.rules(), key=int) == [str(j) for j in range(len(support))]
    open_page.page.get_by_role("button", name="Rule", exact=True).click()
    assert open_page.rules() == [str(j) for j in range(len(support))]
    open_page.is_fine()


def test_the_table_is_searched_by_words_and_by_class(browser: Browser, reports: dict[str, Report]) -> None:
    report = reports["two classes"]
    open_page = visit(browser, report)
    rules = list(report.model.rules_)
    open_page.page.fill("#search", "WORST area")

    found = [str(j) for j, rule in enumerate(rules) if "worst" in rule.text and "area" in rule.text]
    assert open_page.rules() == found
    assert open_page.page.inner_text("#found") == f"{len(found)} of {len(rules)} rules"
    open_page.page.fill("#search", "")
    open_page.page.select_option("#only", label="malignant")
    assert open_page.rules() == [str(j) for j, rule in enumerate(rules) if rule.prediction == "malignant"]


def test_of_many_rules_a_page_is_shown_until_all_are_asked_for(browser: Browser, reports: dict[str, Report]) -> None:
    report = reports["many rules"]
    open_page = visit(browser, report)
    n_rules = len(report.model.rules_)

    assert n_rules > 400 and len(open_page.rules()) == 10
    open_page.page.click("#more")
    assert len(open_page.rules()) == n_rules
    open_page.page.fill("#search", "a <= ")
    assert 0 < len(open_page.rules()) < n_rules
    open_page.is_fine()


def test_many_rules_answer_at_once(browser: Browser, reports: dict[str, Report]) -> None:
    open_page = visit(browser, reports["many rules"])
    milliseconds = open_page.page.evaluate(
        """() => { const start = performance.now(), field = document.getElementById("field-0");
        field.value = "0.5"; field.dispatchEvent(new Event("input")); return performance.now() - start; }"""
    )

    assert milliseconds < 1000


# Keyboard, contrast, themes, paper -----------------------------------------------------------------------------------


def test_everything_can_be_done_by_keyboard(browser: Browser, reports: dict[str, Report]) -> None:
    report = reports["two classes"]
    open_page = visit(browser, report)
    page = open_page.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    reached = []
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
        if reached[-1] == "Support" and reached.count("Support") == 1:
            page.keyboard.press("Enter")
        if reached[-1] == "field-0":
            page.keyboard.press("Control+A")
            page.keyboard.type("25")
    assert {"search", "only", "Support", "pick", "field-0"} <= set(reached)
    support = report.model.rules_.evidence.support
    assert open_page.rules() == [str(j) for j in np.argsort(-support, kind="stable")]
    assert page.input_value("#field-0") == "25"
    open_page.is_fine()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    "name", ["two classes", "odd names", "path of numbers", "few rules, closest", "many rules", *MIXED]
)
def test_axe_finds_nothing_serious(browser: Browser, reports: dict[str, Report], name: str, theme: str) -> None:
    open_page = visit(browser, reports[name], theme=theme)
    open_page.page.locator("#changes h3").wait_for()
    found = Axe().run(open_page.page).response["violations"]

    assert [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["two classes", "odd names", "path of numbers", "many rules", *MIXED])
def test_the_page_does_not_scroll_sideways(
    browser: Browser, reports: dict[str, Report], name: str, size: tuple[int, int]
) -> None:
    open_page = visit(browser, reports[name], size)
    root = "document.documentElement"

    assert open_page.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
    open_page.is_fine()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_tables_and_bars_begin_where_they_can_be_seen(
    browser: Browser, reports: dict[str, Report], size: tuple[int, int]
) -> None:
    page = visit(browser, reports["two classes"], size).page
    ends = {
        place: page.locator(place).first.evaluate("each => each.getBoundingClientRect().right")
        for place in ("svg.upset rect.some", "table.rules", "section:has(table.rules)")
    }

    assert ends["svg.upset rect.some"] < size[0] / 2
    assert ends["table.rules"] <= ends["section:has(table.rules)"]


def test_both_themes_differ(browser: Browser, reports: dict[str, Report]) -> None:
    grounds = [
        visit(browser, reports["two classes"], theme=theme).page.evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for theme in THEMES
    ]

    assert grounds[0] != grounds[1]


def test_paper_has_every_rule_and_no_controls(browser: Browser, reports: dict[str, Report], tmp_path: Path) -> None:
    open_page = visit(browser, reports["many rules"])
    page = open_page.page
    page.fill("#search", "nothing has this in it")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert len(open_page.rules()) == len(reports["many rules"].model.rules_)
    assert not page.is_visible("#search") and not page.is_visible("#try-section")
    assert page.locator("table.rules").is_visible()
    assert len(page.pdf(path=tmp_path / "report.pdf")) > 10_000


def test_hostile_names_are_shown_and_nothing_runs(browser: Browser, reports: dict[str, Report]) -> None:
    open_page = visit(browser, reports["odd names"])
    dialogs: list[str] = []
    open_page.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    labels = open_page.page.locator(".field label").all_inner_texts()

    assert {"<b>x</b>", "</script><script>alert(1)</script>"} & set(labels)
    assert open_page.page.locator("b, i, img").count() == 0
    assert dialogs == []
    open_page.is_fine()


# Names by a grammar ---------------------------------------------------------------------------------------------------


def drawn_names(n: int, seed: int) -> list[str]:
    """Different names of up to four pieces, every kind of piece among them."""
    rng = np.random.default_rng(seed)
    each_kind = [str(rng.choice(pieces)) + str(rng.choice(ALL_PIECES)) for pieces in PIECES.values()]
    names = dict.fromkeys(each_kind)
    while len(names) < n:
        names["".join(rng.choice(ALL_PIECES, size=rng.integers(1, 5)))] = None
    return list(names)[:n]


@pytest.mark.parametrize("seed", [None, 0], ids=["fresh", "0"])
def test_names_by_a_grammar_are_texts_on_the_page(browser: Browser, tmp_path: Path, seed: int | None) -> None:
    """For columns, categories and classes; a fresh seed is in the name of what fails."""
    seed = int(np.random.default_rng().integers(10**6)) if seed is None else seed
    names = drawn_names(34, seed)
    columns, labels, levels = names[:20], names[20:22], names[22:]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 19)), columns=columns[:19])
    level = rng.integers(0, len(levels), 400)
    X[columns[19]] = pd.Categorical.from_codes(level, levels)
    score = X.iloc[:, :6].sum(axis=1) + 2 * (level % 2)
    y = np.array(labels, dtype=object)[(score > 1).astype(int)]
    model = MIRCOClassifier(forest(n_estimators=20))
    report = Report(tmp_path, f"names of seed {seed}", model, lambda: (X, y))
    open_page = visit(browser, report)
    dialogs: list[str] = []
    open_page.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    few = report.X.iloc[:10]
    said = report.model.predict(few)

    tags = open_page.page.evaluate("[...new Set([...document.querySelectorAll('*')].map((e) => e.localName))]")
    assert "img" not in tags and open_page.page.locator("script").count() == _scripts(browser, tmp_path), seed
    fields = open_page.page.locator("label[for^=field]").all_inner_texts()
    assert len(fields) == len(report.columns), seed
    for k in range(len(few)):
        open_page.fill(typed(report, few.iloc[k]))
        assert open_page.verdict()["prediction"] == printable(str(said[k])), seed
    assert dialogs == [], seed
    open_page.is_fine()


def _scripts(browser: Browser, folder: Path) -> int:
    """How many scripts a report under plain names has."""
    plain = Report(folder, "plain", MIRCOClassifier(forest()), biopsies)
    return visit(browser, plain).page.locator("script").count()
