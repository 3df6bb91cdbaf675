"""Studies as a researcher makes them: a protocol file, material, opened. And one that asks everything there is."""

from __future__ import annotations

from pathlib import Path

from annotator.studies.actions import add_material, create_study, open_study
from annotator.studies.importer import Material, ProblemData, SnippetData
from annotator.studies.models import Study

LONG_LINE = f"value = compute({', '.join(f'argument_{number}' for number in range(20))})"
GENERATED = (
    "    result = []\n    for word in words:\n        if len(word) > limit:\n            result.append(word.lower())\n"
    "    return result"
)
TESTS = "\n".join(f"assert long_words(['a', 'bb', 'ccc'], {number}) is not None" for number in range(6))
PROBLEM = '''def long_words(words: list[str], limit: int = {number}) -> list[str]:
    """Return the words that are longer than `limit`, in lower case and in their order.

    >>> long_words(["One", "three"], 3)
    ['three']
    """'''

EVERYTHING = """
name = "everything"
version = 1
title = "Readability of small functions"
policy = "everyone"
language = "{language}"
skip = true
back = true
copy = false
problem_heading = "{problem}"
snippet_heading = "{snippet}"
consent = '''
{text}

{text}
'''
instructions = "{text}"
thanks = "{text}"

[codes]
complete = "C0MPLETE"

[example]
intent = "{text} `x = 1`"
code = "total = sum(numbers)\\nprint(total)"
why = "{text}"

[[practice]]
intent = "{text}"
code = "first = words[0]"
why = "{text}"
expected = {{ readable = [3, 4], sure = [90, 100] }}

[[practice]]
intent = "{text}"
code = "w = ws[0]"

[[background]]
key = "years"
text = "{text} (1)"
kind = "number"
low = 0
high = 60
required = true

[[background]]
key = "role"
text = "{text} (2)"
kind = "choice"
choices = ["{text} a", "{text} b", "{text} c"]
required = true

[[background]]
key = "more"
text = "{text} (3)"

[[questions]]
key = "readable"
text = "{text} R"
options = [
    {{ value = 0, label = "{low}", description = "{text}" }},
    {{ value = 1, label = "{low}+" }},
    {{ value = 2, label = "{high}-" }},
    {{ value = 3, label = "{high}" }},
    {{ value = 4, label = "{high}+", description = "{text}" }},
]

[[questions]]
key = "agree"
text = "{text} A"
with_previous = true
options = [{{ value = 1, label = "{high}" }}, {{ value = 0, label = "{low}" }}]

[[questions]]
key = "sure"
text = "{text} S"
kind = "slider"
low_label = "{low}"
high_label = "{high}"
with_previous = true

[[questions]]
key = "why"
text = "{text} W"
kind = "text"
with_previous = true

[[feedback]]
key = "again"
text = "{text} F"
kind = "choice"
choices = ["{low}", "{high}"]

[[feedback]]
key = "comment"
text = "{text} C"
"""
WORDS = {
    "en": ("The task", "The function", "Read the code and say how easy it is to follow.", "hardly", "very well"),
    "de": ("Die Aufgabe", "Die Funktion", "Bitte lesen Sie den Code in Ruhe.", "kaum", "sehr gut"),
    "ar": ("المهمة", "الدالة", "اقرأ الشيفرة بهدوء ثم أجب.", "قليلا", "كثيرا"),
}  # fmt: skip


def everything(folder: Path, *, language: str = "en", problems: int = 2) -> Study:
    """A study with a slider, several questions on a page, comments, practice, and choices before and after."""
    names = ("problem", "snippet", "text", "low", "high")
    source = EVERYTHING.format(language=language, **dict(zip(names, WORDS[language], strict=True)))
    path = folder / "everything.toml"
    path.write_text(source, encoding="utf-8")
    return real_study(str(path), problems=problems)


def real_study(
    protocol: str, *, slug: str = "study", problems: int = 2, systems: int = 1, image: Path | None = None
) -> Study:
    """An open study of a shipped protocol, or of a .toml file, with material of every kind."""
    study = create_study(slug, "", protocol, seed=7)
    material = Material()
    for number in range(problems):
        key = f"p{number}"
        shown = study.read_protocol()
        intent = f"Keep the words of `words` that are longer than {number}."
        material.problems[key] = ProblemData(
            key,
            intent=PROBLEM.format(number=number) if shown.intent_as_code else intent,
            context="" if shown.intent_as_code else "`words` is a list of texts.",
            tests=TESTS,
            image=image,
            image_alt="A card with the picture of a bird" if image else "",
        )
        for system in range(systems):
            code = f"{GENERATED}  # {system} {number}" + (f"\n{LONG_LINE}" if number % 2 else "")
            scores = {"bleu": 0.31 + number / 10, "codebleu": 0.5} if shown.show == "score" else {}
            material.snippets.append(
                SnippetData(key, f"system-{system}", 0, code, "python", f"line {number}", scores=scores)
            )
        own = f"    return [word.lower() for word in words if len(word) > {number}]"
        material.snippets.append(SnippetData(key, "reference", 0, own, "python", "", is_reference=True))
    add_material(study, material)
    open_study(study)
    return study
