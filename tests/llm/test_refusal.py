"""What an endpoint says about itself reaches messages without the key."""

import pytest

from recjury.llm.openai_provider import response_error
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import HttpResponse

KEY = "sk-very-secret"
SPEC = ModelSpec(base_url="http://127.0.0.1:9/v1", name="scripted")


@pytest.mark.parametrize("place", [f"/v1?key={KEY}", f"/v1\n?key={KEY}&" + "x" * 500])
def test_where_a_redirect_leads_is_told_without_the_key(place: str) -> None:
    said = str(
        response_error(HttpResponse(status=302, headers={"location": place}, body=b""), SPEC, KEY)
    )
    assert KEY not in said
    assert "/v1" in said
    assert "[key]" in said
    assert "\n" not in said
    assert len(said) < 400
