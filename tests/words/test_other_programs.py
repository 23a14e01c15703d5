"""Word lists in the layouts of other programs: dictionaries, names in rows, and files that are no lists."""

import io
import json
import re
import shlex
import subprocess
import time
import zipfile

import pytest

from bayes_bias import load_wordlist
from bayes_bias.errors import BayesBiasError, WordListError
from bayes_bias.words.list_files import read_names
from tests.helpers import containing, refused, says

WORDS = {
    "flowers": ["rose", "tulip", "water lily"],
    "insects": ["ant", "bee"],
    "male": ["he", "him", "his"],
    "female": ["she", "her", "hers"],
}
STEREOTYPES = {"flowers": "female", "insects": "male"}


def liwc(between: str) -> str:
    numbers = {name: str(k) for k, name in enumerate(WORDS, 1)}
    head = [f"{number}{between}{name}" for name, number in numbers.items()]
    body = [f"{word}\t{numbers[name]}" for name, words in WORDS.items() for word in words]
    return "\n".join(["%", *head, "%", *body, "happ*\t1\t3"]) + "\n"


def nodes(quote: str) -> str:
    inner = []
    for name, words in WORDS.items():
        inner.append(f"<cnode name={quote}{name}{quote}>")
        inner += [f"<pnode name={quote}{word}{quote}></pnode>" for word in words]
        inner.append("</cnode>")
    return "\n".join(['<?xml version="1.0"?>', "<dictionary>", *inner, "</dictionary>"])


def wordstat(before: str) -> str:
    lines = []
    for name, words in WORDS.items():
        lines += [name, *(f"{before}{word.upper().replace(' ', '_')} (1)" for word in words)]
    return "\r\n".join(lines)


DICTIONARIES = {
    "liwc.dic": liwc("\t"),
    "blanks.dic": liwc(" "),
    "plus.lc3": "\n".join(f"+{name}+\n" + "\n".join(words) + "\n" for name, words in WORDS.items()),
    "nodes.lc3": nodes('"'),
    "nodes.lcd": nodes("'"),
    "tabs.cat": wordstat("\t"),
    "blanks.cat": wordstat("  "),
}


@pytest.mark.parametrize("name", DICTIONARIES)
def test_read_names_reads_dictionaries_of_content_analysis(tmp_path, run, name):
    (tmp_path / name).write_text(DICTIONARIES[name])
    content = read_names(tmp_path / name)
    assert content.values == WORDS
    assert bool(containing(content.notices, "omitted 1 patterns", "happ*")) == name.endswith("dic")
    assert load_wordlist(tmp_path / name, stereotypes=STEREOTYPES).groups["insects"] == ("ant", "bee")
    with refused(WordListError, "wordlists --groups") as caught:
        load_wordlist(tmp_path / name)
    printed = shlex.split(re.search(r"`bayes-bias (.*?)`", str(caught.value.args[0]))[1].replace("list.csv", "new.csv"))
    *command, out = printed
    assert run(*command, str(tmp_path / out))[0] == 0
    assert load_wordlist(tmp_path / out).groups.keys() == {"flowers", "insects"}


@pytest.mark.parametrize("name", ["x.dic", "x.lc3", "x.cat"])
def test_read_names_rejects_other_text_with_name_of_dictionary(tmp_path, name):
    (tmp_path / name).write_text("rose\ntulip\n")
    with refused(WordListError, f"{name} dictionary LIWC Lexicoder WordStat .txt"):
        read_names(tmp_path / name)


def test_read_names_reads_irregular_dictionary_of_liwc_and_logs_unknown_codes(tmp_path):
    head = "%\n01\tVirtue\n2\tVice\n 11 Other\n%\n\n"
    (tmp_path / "x.dic").write_text(f"{head}safe\t1\npeace        01\nharm\t02  \nkind\t<of>131/125\t1\nwar \t2\t11\n")
    content = read_names(tmp_path / "x.dic")
    assert content.values == {"Virtue": ["safe", "peace", "kind"], "Vice": ["harm", "war"], "Other": ["war"]}
    assert containing(content.notices, "1 words have codes that are not in the legend", "kind")
    (tmp_path / "x.dic").write_text("%\n1\tVirtue\nsafe\t1\n")
    with refused(WordListError, "x.dic dictionary"):
        read_names(tmp_path / "x.dic")


ROWS = {
    "flowers=female": ["rose", "tulip", "daisy"],
    "insects=male": ["ant", "bee", "wasp", "moth"],
    "male": ["he", "him"],
    "female": ["she", "her", "hers"],
}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("order", [list(ROWS), list(ROWS)[1:] + list(ROWS)[:1]])
def test_load_wordlist_reads_names_in_first_column_with_notice(tmp_path, delimiter, order):
    if "=" not in order[0]:
        return
    (tmp_path / "list.csv").write_text("\n".join(delimiter.join([name, *ROWS[name]]) for name in order))
    words = load_wordlist(tmp_path / "list.csv")
    assert {name: list(own) for name, own in {**words.groups, **words.classes}.items()} == {
        name.partition("=")[0]: own for name, own in ROWS.items()
    }
    assert containing(words.notices, "first column")


def test_load_wordlist_keeps_columns_whose_words_are_names_of_classes(tmp_path):
    (tmp_path / "list.csv").write_text("a=male,b=female,male,female\nmale,rose,he,she\noak,ant,him,her\n")
    assert load_wordlist(tmp_path / "list.csv").groups["a"] == ("male", "oak")


@pytest.mark.parametrize("headings", [("Word", "Condition"), ("Condition", "WORD"), ("condition", "word")])
def test_load_wordlist_reads_columns_word_and_condition(tmp_path, headings):
    rows = [headings]
    for name, words in WORDS.items():
        rows += [(word, name) if headings[0].lower() == "word" else (name, word) for word in words]
    (tmp_path / "list.csv").write_text("\n".join(map(",".join, rows)))
    assert load_wordlist(tmp_path / "list.csv", stereotypes=STEREOTYPES).groups["flowers"] == tuple(WORDS["flowers"])
    (tmp_path / "list.csv").write_text(
        "word,group,condition\n" + "\n".join(f"{w},{n},x" for n in WORDS for w in WORDS[n])
    )
    assert load_wordlist(tmp_path / "list.csv", stereotypes=STEREOTYPES).groups["flowers"] == tuple(WORDS["flowers"])


def zipped(*members: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for member in members:
            archive.writestr(member, "x")
    return content.getvalue()


BINARY = {
    "OpenDocument soffice csv": zipped("mimetype", "content.xml"),
    "Word CSV": zipped("[Content_Types].xml", "word/document.xml"),
    "Excel workbook CSV": zipped("[Content_Types].xml", "xl/workbook.xml"),
    "Numbers CSV": zipped("Index/Document.iwa"),
    "inspect_ai inspect log convert json": zipped("header.json", "samples/1_epoch_1.json"),
    "zip file a.csv b.csv zipfile": zipped("a.csv", "b.csv"),
    "damaged zip file again": zipped("a.csv")[:40],
    "Excel 97 .xlsx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "PDF CSV": b"%PDF-1.7\n%\xe2\xe3",
    "Parquet mv": b"PAR1\x15\x04\x15",
    "gzip gunzip": b"\x1f\x8b\x08\x00\x00",
}


@pytest.mark.parametrize("words", BINARY)
@pytest.mark.parametrize(
    "name", ["list.csv", "list.txt", "list.json", "list.yaml", "list.ods", "list.toml", "list.dic"]
)
def test_load_wordlist_names_format_of_binary_file_by_content(tmp_path, words, name):
    (tmp_path / name).write_bytes(BINARY[words])
    with refused(WordListError, words) as caught:
        load_wordlist(tmp_path / name)
    assert "iconv" not in str(caught.value)


@pytest.mark.parametrize("words", list(BINARY)[:6])
@pytest.mark.parametrize("name", ["v.csv", "v.txt", "v.ods", "v.eval"])
def test_open_embedding_names_format_of_zip_file_by_content(tmp_path, words, name):
    from bayes_bias import open_embedding

    (tmp_path / name).write_bytes(BINARY[words])
    with refused(BayesBiasError, words):
        open_embedding(tmp_path / name)


@pytest.mark.parametrize("command", [("sentence-pairs",), ("tpr-gaps",)])
def test_commands_name_log_of_inspect(tmp_path, run, command):
    (tmp_path / "x.eval").write_bytes(BINARY["inspect_ai inspect log convert json"])
    code, _, err = run(*command, tmp_path / "x.eval", "--out", tmp_path / "out")
    assert code == 2
    assert says(err, "inspect_ai inspect log convert")


def test_gunzip_command_of_message_works(tmp_path):
    import gzip

    text = "flowers=female,insects=male,male,female\nrose,ant,he,she\n"
    (tmp_path / "list.csv").write_bytes(gzip.compress(text.encode()))
    with refused(WordListError, "gunzip") as caught:
        load_wordlist(tmp_path / "list.csv")
    subprocess.run(str(caught.value).split("`")[1], shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / "unpacked.csv").read_text() == text


def test_load_wordlist_takes_time_proportional_to_number_of_words():
    columns = {}
    for name in ("a=x", "b=y", "x", "y"):
        columns[name] = [f"{name[0]}word{k}" for k in range(20_000)]
    began = time.process_time()
    load_wordlist(columns)
    assert time.process_time() - began < 8


def test_load_wordlist_names_forms_of_one_word_in_order():
    columns = {
        "a=x": ["walk", "talked", "Walks", "talk"],
        "b=y": ["oak", "elm"],
        "x": ["one", "two"],
        "y": ["six", "ten"],
    }
    assert containing(load_wordlist(columns).notices, "'walk' and 'Walks', 'talk' and 'talked'")


@pytest.mark.parametrize(
    "text", ["", "\n", "a=x\n", "a=x,\nx\n", "a=x,rose\nx\n", "a=x\nx\nrose\n", "a=x;b\nx;c;d;e\n", "=x\nx,\n"]
)
def test_load_wordlist_rejects_short_table_with_names_in_first_column(tmp_path, text):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(WordListError):
        load_wordlist(tmp_path / "list.csv")


def test_load_wordlist_reads_uneven_mapping_whose_words_are_names_of_classes():
    columns = {"a=x": ["x", "oak", "elm"], "b=y": ["flint"], "y": ["one", "two"], "z": ["six"]}
    with refused(WordListError, "unknown class 'x'"):
        load_wordlist(columns)


def test_read_names_keeps_phrases_before_numbers_that_blanks_separate(tmp_path):
    (tmp_path / "x.dic").write_text("%\n1 flowers\n2 insects\n%\nwater lily 1\nrose  1 2\n ant 02 \nbee\t2\nwasp\n")
    assert read_names(tmp_path / "x.dic").values == {
        "flowers": ["water lily", "rose"],
        "insects": ["rose", "ant", "bee"],
    }


def marked(mark: str = "X", other: str = "") -> list[list[str]]:
    rows = [["DicTerm", *WORDS]]
    for own, words in WORDS.items():
        rows += [[word, *(mark if name == own else other for name in WORDS)] for word in words]
    return rows


@pytest.mark.parametrize("name", ["liwc22.dicx", "marks.csv", "marks.tsv"])
@pytest.mark.parametrize("marks", [("X", ""), ("x", ""), ("1", ""), ("1", "0"), ("TRUE", "FALSE"), ("true", "false")])
def test_load_wordlist_reads_table_of_marks(tmp_path, name, marks):
    between = "\t" if name.endswith("tsv") else ","
    (tmp_path / name).write_text("".join(f"{between.join(row)}\n" for row in marked(*marks)))
    found = load_wordlist(tmp_path / name, stereotypes=STEREOTYPES)
    assert {**found.groups, **found.classes} == {name: tuple(words) for name, words in WORDS.items()}
    assert containing(found.notices, f"the words of each category are those with the mark {marks[0].upper()}")


@pytest.mark.parametrize("marks", [(1, 0), (1, None), (True, False)])
def test_load_wordlist_reads_marks_of_workbook(tmp_path, marks):
    openpyxl = pytest.importorskip("openpyxl")
    headings, *rows = marked("X", "-")
    book = openpyxl.Workbook()
    book.active.append(headings)
    for word, *cells in rows:
        book.active.append([word, *(marks[cell == "-"] for cell in cells)])
    book.save(tmp_path / "marks.xlsx")
    found = load_wordlist(tmp_path / "marks.xlsx", stereotypes=STEREOTYPES)
    assert {**found.groups, **found.classes} == {name: tuple(words) for name, words in WORDS.items()}


def test_load_wordlist_reads_labels_that_look_like_marks(tmp_path):
    rows = ["word,group,rated", "rose,1,1", "tulip,1,0", "ant,0,1", "he,he,1", "she,she,1"]
    (tmp_path / "mine.csv").write_text("\n".join(rows))
    found = load_wordlist(tmp_path / "mine.csv", stereotypes={"1": "she", "0": "he"})
    assert found.groups == {"1": ("rose", "tulip"), "0": ("ant",)}


def test_load_wordlist_reads_no_marks_if_a_word_has_none(tmp_path):
    headings = "term,flowers=female,insects=male,male,female"
    (tmp_path / "m.csv").write_text(f"{headings}\nrose,X,,,\nant,,X,,\nhe,,,X,\nshe,,,,X\nfork,,,,\n")
    with refused(WordListError, "the word 'X' is in two groups"):
        load_wordlist(tmp_path / "m.csv")


def test_load_wordlist_reads_json_of_wefe_query(tmp_path):
    query = {
        "query_name": "mine",
        "target_sets": [WORDS["flowers"], WORDS["insects"]],
        "target_sets_names": ["flowers", "insects"],
        "attribute_sets": [WORDS["female"], WORDS["male"]],
        "attribute_sets_names": ["female", "male"],
    }
    (tmp_path / "query.json").write_text(json.dumps(query))
    found = load_wordlist(tmp_path / "query.json")
    assert found.stereotypes == STEREOTYPES
    assert {**found.groups, **found.classes} == {name: tuple(words) for name, words in WORDS.items()}


@pytest.mark.parametrize(("side", "names"), [("target", ["flowers"]), ("attribute", ["a", "b", "c"])])
def test_load_wordlist_raises_for_wefe_query_with_other_number_of_names(tmp_path, side, names):
    words = {"target_sets": [["rose"], ["ant"]], "attribute_sets": [["she"], ["he"]]}
    names_of = {"target_sets_names": ["flowers", "insects"], "attribute_sets_names": ["female", "male"]}
    (tmp_path / "query.json").write_text(json.dumps({**words, **names_of, f"{side}_sets_names": names}))
    with refused(WordListError, f"query has 2 {side} sets with the names Give each set a name of its own"):
        load_wordlist(tmp_path / "query.json")


def test_load_wordlist_takes_groups_of_wefe_query_with_three_targets(tmp_path):
    names = ["flowers", "insects", "fruit"]
    query = {"target_sets": [["rose"], ["ant"], ["fig"]], "target_sets_names": names}
    query |= {"attribute_sets": [["she"], ["he"]], "attribute_sets_names": ["female", "male"]}
    (tmp_path / "query.json").write_text(json.dumps(query))
    with refused(WordListError, "does not define which groups `stereotypes="):
        load_wordlist(tmp_path / "query.json")
    found = load_wordlist(tmp_path / "query.json", stereotypes=dict.fromkeys(names, "female"))
    assert list(found.groups) == names
