"""`GET /healthz`: 200 when the store answers, 503 when it does not."""

from satchel import wiring
from satchel.api.handler import probe

handler = probe("healthz", lambda: wiring.database().ping())
