"""The jobs feature's SQL: the jobs of one user."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from satchel.jobs.jobs import LOST_AFTER, Job
from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries

_SQL = load_queries("satchel.jobs")


class JobStore:
    """The jobs of one user.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def submit(
        self, job_id: str, *, kind: str, digest: str, request: Mapping[str, Any], now: datetime
    ) -> tuple[Job, bool]:
        """The job of a request, and whether it is a new one: the same request under way is the same job."""
        row = self._database.fetch_one(
            self._user_id,
            _SQL["submit_job"],
            job_id=job_id,
            kind=kind,
            digest=digest,
            request=Jsonb(dict(request)),
            now=now,
        )
        assert row is not None
        return Job(**row), row["job_id"] == job_id

    def get(self, job_id: str) -> Job | None:
        """A job."""
        return _job(self._database.fetch_one(self._user_id, _SQL["get_job"], job_id=job_id))

    def claim(self, job_id: str, *, claimant: str, lease_until: datetime, now: datetime) -> Job | None:
        """The job, now the claimant's to run; None where it is finished or somebody else runs it."""
        return _job(
            self._database.fetch_one(
                self._user_id, _SQL["claim_job"], job_id=job_id, claimant=claimant, lease_until=lease_until, now=now
            )
        )

    def give_back(self, job_id: str, *, claimant: str, now: datetime) -> None:
        """Let somebody else run it."""
        self._database.run(self._user_id, _SQL["give_back_job"], job_id=job_id, claimant=claimant, now=now)

    def finish(
        self,
        job_id: str,
        *,
        claimant: str,
        result: Mapping[str, Any] | None,
        error: Mapping[str, Any] | None,
        now: datetime,
    ) -> None:
        """End it; a claimant that has lost it in the meantime changes nothing."""
        self._database.run(
            self._user_id,
            _SQL["finish_job"],
            job_id=job_id,
            claimant=claimant,
            status="failed" if error else "done",
            result=None if result is None else Jsonb(dict(result)),
            error=None if error is None else Jsonb(dict(error)),
            now=now,
        )

    def touch(self, job_id: str, now: datetime) -> bool:
        """Whether this call is the one that asks for an abandoned job again."""
        touched = {"job_id": job_id, "now": now, "lost_before": now - LOST_AFTER}
        return self._database.fetch_one(self._user_id, _SQL["touch_job"], **touched) is not None


def _job(row: dict[str, Any] | None) -> Job | None:
    return None if row is None else Job(**row)
