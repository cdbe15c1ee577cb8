"""`context://filtered/{handle}{?cursor,query}`: what the filter cut out of a tool's answer."""

from satchel import filter_wiring, wiring
from satchel.api.handler import Call, Content, resource
from satchel.api.wire.filtered import CutPage, CutVariables
from satchel.filtering.fetching import cut_page


@resource("filtered", "context://filtered/{handle}{?cursor,query}")
def handler(variables: dict[str, str], call: Call) -> Content:
    """One page, sanitised; `next` is the URI of the next."""
    asked = CutVariables.read(variables)
    page = cut_page(
        asked.handle,
        page=asked.cursor,
        query=asked.query,
        store=filter_wiring.filter_store(call.user_id),
        profiles=filter_wiring.profiles(),
        sanitiser=filter_wiring.sanitiser(),
        now=wiring.clock(),
    )
    return Content(CutPage.of(asked, page).model_dump_json(), "application/json")
