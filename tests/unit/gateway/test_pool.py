import asyncio

from satchel.gateway.pool import LinkPool


def test_a_user_has_one_link_to_a_server_and_nobody_elses():
    async def run():
        pool = LinkPool()
        first = await pool.link("alice", "http://one")
        assert await pool.link("alice", "http://one") is first
        assert await pool.link("bob", "http://one") is not first
        assert await pool.link("alice", "http://two") is not first

    asyncio.run(run())


def test_the_link_that_was_used_longest_ago_makes_room():
    async def run():
        pool = LinkPool(size=2)
        alice, bob = [await pool.link(user, "http://one") for user in ("alice", "bob")]
        assert await pool.link("alice", "http://one") is alice
        await pool.link("carol", "http://one")
        assert await pool.link("alice", "http://one") is alice
        assert await pool.link("bob", "http://one") is not bob

    asyncio.run(run())
