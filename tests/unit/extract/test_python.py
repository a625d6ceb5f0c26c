"""Classes and functions: names, spans, decorators, docstrings, encodings and line ends (P-02, P-03)."""

from __future__ import annotations

import pytest
from pieces import cut, extract, find_class, find_function, list_functions, parse_docstring

from pkg.extract.python import extract_unit
from pkg.model import Function, Span, Status


def test_a_function_spans_from_its_keyword_to_the_end_of_its_last_line() -> None:
    code = extract("x = 1\n\n\ndef f(a):\n    return a\n\n\n# after\n")
    assert find_function(code, "f").span == Span(8, 30, 4, 5)
    assert list_functions(code) == {"f": "def f(a):\n    return a"}


def test_an_empty_text_has_no_definitions_and_no_faults() -> None:
    code = extract("")
    assert (code.status, code.reason, code.definitions, code.imports) == (Status.OK, None, (), ())


@pytest.mark.parametrize("text", ["async def f(): pass\n", "async  \\\n  def f(): pass\n"])
def test_an_async_function_is_marked_and_begins_with_its_first_keyword(text: str) -> None:
    code = extract(text)
    assert find_function(code, "f").is_async
    assert list_functions(code)["f"] == text.strip()


def test_a_plain_function_whose_name_begins_with_async_is_not_async() -> None:
    assert not find_function(extract("def async_f(): pass\n"), "async_f").is_async


def test_methods_know_their_class_and_functions_are_no_methods() -> None:
    code = extract("class A:\n    def m(self): pass\n\ndef f(): pass\n")
    assert [(piece.qualname, piece.parent) for piece in code.definitions] == [("A", None), ("A.m", 0), ("f", None)]
    assert find_function(code, "A.m").is_method
    assert not find_function(code, "f").is_method


def test_nested_definitions_are_qualified_by_all_enclosing_names() -> None:
    code = extract(
        "class A:\n  class B:\n    def f(self):\n      def g():\n        class C:\n          def h(self): pass\n"
    )
    assert [piece.qualname for piece in code.definitions] == [
        "A",
        "A.B",
        "A.B.f",
        "A.B.f.g",
        "A.B.f.g.C",
        "A.B.f.g.C.h",
    ]
    assert [piece.parent for piece in code.definitions] == [None, 0, 1, 2, 3, 4]
    methods = [piece.name for piece in code.definitions if isinstance(piece, Function) and piece.is_method]
    assert methods == ["f", "h"]


def test_a_definition_inside_a_statement_belongs_to_the_enclosing_definition() -> None:
    code = extract("class A:\n    if x:\n        def m(self): pass\ntry:\n    def f(): pass\nfinally: pass\n")
    assert [(piece.qualname, piece.parent) for piece in code.definitions] == [("A", None), ("A.m", 0), ("f", None)]


def test_decorators_are_part_of_the_span_and_listed_in_order() -> None:
    code = extract("@a.b\n\n@c(1,\n   x=2)  # why\n# between\ndef f(): pass\n")
    function = find_function(code, "f")
    assert function.decorators == ("a.b", "c(1,\n   x=2)")
    assert (function.span.start_line, function.span.end_line) == (1, 6)
    assert cut(code, function).startswith("@a.b\n")


def test_a_decorator_belongs_to_the_next_definition_alone() -> None:
    code = extract("@d\nclass A:\n    def first(self): pass\n\n    @e\n    def last(self): pass\n\ndef f(): pass\n")
    assert [piece.decorators for piece in code.definitions] == [("d",), (), ("e",), ()]
    assert find_class(code, "A").span.end == find_function(code, "A.last").span.end
    assert cut(code, find_function(code, "A.last")) == "@e\n    def last(self): pass"
    assert cut(code, find_function(code, "f")) == "def f(): pass"


def test_overloads_are_functions_of_their_own_in_their_order() -> None:
    code = extract("@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): return a\n")
    assert [piece.qualname for piece in code.definitions] == ["f", "f", "f"]
    assert [piece.decorators for piece in code.definitions] == [("overload",), ("overload",), ()]


def test_a_class_lists_its_bases_as_they_are_written() -> None:
    code = extract("class A(B, c.D[int], metaclass=M): x = 1\nclass E: pass\n")
    assert find_class(code, "A").bases == ("B", "c.D[int]", "metaclass=M")
    assert find_class(code, "E").bases == ()


def test_a_signature_over_several_lines_is_part_of_the_function() -> None:
    text = "def f(\n    a,\n    *,\n    b=(1,\n       2),\n) -> dict[\n    str, int\n]:\n    return {}"
    code = extract(text + "\n")
    assert list_functions(code) == {"f": text}
    assert find_function(code, "f").span.end_line == 9


def test_type_parameters_do_not_hide_a_definition() -> None:
    code = extract("def f[T: int](x: T) -> T: return x\nclass A[T](B): pass\n")
    assert [piece.qualname for piece in code.definitions] == ["f", "A"]


def test_functions_on_one_line_end_where_their_last_statement_ends() -> None:
    code = extract("def f(): return 1; x = 2\nclass A: y = 1\n")
    assert list_functions(code) == {"f": "def f(): return 1; x = 2"}


def test_a_last_line_without_an_end_is_read() -> None:
    assert list_functions(extract("def f():\n    return 1")) == {"f": "def f():\n    return 1"}


def test_names_of_other_scripts_are_names() -> None:
    code = extract("class Größe:\n    def été(self): pass\n")
    assert [piece.qualname for piece in code.definitions] == ["Größe", "Größe.été"]


@pytest.mark.parametrize("literal", ['"""d"""', "'d'", "r'''\n    d\n    '''", "u'd'", "'a' \"b\""])
def test_a_plain_string_that_comes_first_is_the_docstring(literal: str) -> None:
    code = extract(f"class A:\n    {literal}\n    def f(self):\n        # first\n        {literal}; return 1\n")
    assert parse_docstring(code, find_class(code, "A")) == literal
    assert parse_docstring(code, find_function(code, "A.f")) == literal


@pytest.mark.parametrize("literal", ["f'd'", "b'd'", "rb'd'", "'a' f'{b}'", "'d'.strip()", "('a', 'b')", "1"])
def test_other_literals_are_no_docstring(literal: str) -> None:
    function = find_function(extract(f"def f():\n    {literal}\n    return 1\n"), "f")
    assert function.docstring is None


def test_a_string_after_a_statement_is_no_docstring() -> None:
    assert find_function(extract("def f():\n    x = 1\n    'd'\n"), "f").docstring is None


def test_tabs_indent_as_blanks_do() -> None:
    code = extract("class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 1\n\t\treturn 2\n")
    assert list_functions(code) == {"A.f": "def f(self):\n\t\tif x:\n\t\t\treturn 1\n\t\treturn 2"}


def test_line_ends_of_windows_are_kept_in_the_content_and_counted_once() -> None:
    code = extract("x = 1\r\n\r\ndef f():\r\n    y = 1\r\n    return y\r\n\r\ndef g(): pass\r\n")
    assert list_functions(code)["f"] == "def f():\r\n    y = 1\r\n    return y"
    lines = [(piece.span.start_line, piece.span.end_line) for piece in code.definitions]
    assert lines == [(3, 5), (7, 7)]


def test_offsets_count_a_byte_order_mark() -> None:
    code = extract_unit(b"\xef\xbb\xbfdef f(): pass\n")
    assert (code.status, find_function(code, "f").span) == (Status.OK, Span(3, 16, 1, 1))


def test_bytes_that_are_not_utf_8_do_not_move_offsets() -> None:
    code = extract_unit(b"# \xe9t\xe9\ndef f():\n    return '\xe9'\n\ndef g(): pass\n")
    assert code.status is Status.OK
    assert [code.text[piece.span.start : piece.span.end] for piece in code.definitions] == [
        b"def f():\n    return '\xe9'",
        b"def g(): pass",
    ]


def test_offsets_are_bytes_where_characters_take_several() -> None:
    code = extract("x = 'Ünïcödé €'\n\n\ndef f(): return '€'\n")
    assert list_functions(code) == {"f": "def f(): return '€'"}


@pytest.mark.parametrize("line", ["print 'a', b", "print >>f, 'a'", "exec 'x = 1'"])
def test_python_2_is_recognised_and_reported(line: str) -> None:
    code = extract(f"def f():\n    {line}\n")
    assert (code.language, code.status, code.reason) == ("python2", Status.OK, "Python 2 (print or exec statement)")
    assert list_functions(code) == {"f": f"def f():\n    {line}"}


def test_handlers_of_python_2_are_read() -> None:
    code = extract("def f():\n    try:\n        print 'a'\n    except E, e:\n        raise F, 'x'\n")
    assert (code.language, code.status) == ("python2", Status.OK)


@pytest.mark.parametrize("line", ["print('a')", "exec('x')", "print", "print('a', file=f), b"])
def test_calls_of_print_and_exec_are_python_3(line: str) -> None:
    assert extract(f"{line}\n").language == "python"
