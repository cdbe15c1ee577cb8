"""`database_migrator`: give the database the schema of this deployment, and the application's role its password."""

from satchel import wiring
from satchel.api.custom_resource import custom_resource
from satchel.postgres.migrate import MigrationError, migrate


@custom_resource("database_migrator", safe_errors=(MigrationError,))
def handler() -> dict[str, str]:
    """Apply what is missing; see `satchel.postgres.migrate`."""
    applied = migrate(wiring.admin_conninfo(), app_password=wiring.app_password())
    return {"Applied": ",".join(applied)}
