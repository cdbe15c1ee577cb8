from datetime import UTC, datetime, timedelta

from satchel.expiring_cache import ExpiringCache

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_value_is_made_once_until_its_time_is_over():
    now, made = [START], []
    cache = ExpiringCache(max_entries=2, ttl=timedelta(minutes=5), clock=lambda: now[0])
    for minutes in (0, 4, 5, 6):
        now[0] = START + timedelta(minutes=minutes)
        cache.get_or_make("k", lambda: made.append(now[0]) or len(made))
    assert made == [START, START + timedelta(minutes=5)]


def test_the_least_recently_used_entry_leaves_first():
    cache, made = ExpiringCache(max_entries=2, ttl=timedelta(minutes=5), clock=lambda: START), []
    for key in ("a", "b", "a", "c", "a", "b"):
        cache.get_or_make(key, lambda key=key: made.append(key))
    assert made == ["a", "b", "c", "b"]
