from satchel.local.cors import answer_headers, is_preflight, preflight_headers
from satchel.local.template import Cors


def test_any_origin_is_a_star_and_a_listed_one_is_named():
    assert answer_headers(Cors(origins=("*",)), "https://a.example") == {"access-control-allow-origin": "*"}
    assert answer_headers(Cors(origins=("https://a.example",)), "https://a.example") == {
        "access-control-allow-origin": "https://a.example",
        "vary": "origin",
    }


def test_a_star_at_the_end_of_a_scheme_allows_its_origins_alone():
    cors = Cors(origins=("https://*",), methods=("GET",))
    assert preflight_headers(cors, "https://a.example")["access-control-allow-methods"] == "GET"
    assert preflight_headers(cors, "http://a.example") == {}


def test_without_an_origin_there_are_no_headers():
    assert answer_headers(Cors(origins=("*",)), "") == {}


def test_only_options_with_both_headers_is_a_preflight():
    asked = {"origin": "https://a.example", "access-control-request-method": "POST"}
    assert is_preflight("OPTIONS", asked)
    assert not is_preflight("POST", asked)
    assert not is_preflight("OPTIONS", {"origin": "https://a.example"})
