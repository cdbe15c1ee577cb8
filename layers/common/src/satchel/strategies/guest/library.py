"""backtesting.py (AGPL), made to count in fractions and to note orders. It is imported here, in the sandbox, only."""

import contextlib
import sys
import types

# The library counts whole units. A unit is cut into this many, and everything the strategy sees is put together
# again, so that fractions of an expensive thing can be held and stops keep their natural prices.
PIECES = 1_000_000


def load_library():
    """Import backtesting.py, with stand-ins for what this Python lacks: processes, and plotting in a browser."""
    for name in ("resource_tracker", "shared_memory"):
        module = types.ModuleType(f"multiprocessing.{name}")
        module.SharedMemory = object
        sys.modules.setdefault(f"multiprocessing.{name}", module)
        import multiprocessing

        setattr(multiprocessing, name, sys.modules[f"multiprocessing.{name}"])
    plotting = types.ModuleType("backtesting._plotting")
    plotting.plot = plotting.plot_heatmaps = plotting.set_bokeh_output = lambda *_args, **_options: None
    sys.modules["backtesting._plotting"] = plotting
    import backtesting

    return backtesting


backtesting = load_library()
engine = sys.modules["backtesting.backtesting"]


class View:
    """A trade or order as the strategy sees it: in units, not in pieces."""

    def __init__(self, item):
        object.__setattr__(self, "_item", item)

    def __getattr__(self, name):
        value = getattr(self._item, name)
        return value / PIECES if name in ("size", "pl", "value") else value

    def __setattr__(self, name, value):
        setattr(self._item, name, value)


def in_units(name):
    """A property of the strategy that shows its trades or orders in units."""
    return property(lambda self: tuple(View(item) for item in getattr(self._broker, name)))


def placing(method):
    """`buy` and `sell` that take units and note what was ordered at which bar."""

    def place(self, *, size=engine.Strategy._FULL_EQUITY, **options):
        note(self._broker, method.__name__, size, *(options.get(name) for name in ("limit", "stop", "sl", "tp")))
        return method(self, size=size if size < 1 else round(size * PIECES), **options)

    return place


def noting_close(method):
    """`close` that notes which trade was closed at which bar."""

    def close(self, portion=1.0):
        note(self._Trade__broker, "close", self.entry_bar, portion)
        return method(self, portion)

    return close


def note(broker, *what):
    """Remember an order with the bar it was placed at."""
    order = [float(part) if part and not isinstance(part, str) else part for part in what]
    broker.__dict__.setdefault("noted", []).append((len(broker._data) - 1, *order))


def adapt_library():
    """Make the library count in units, note orders, and print no progress."""
    engine._tqdm = lambda bars, **_options: bars
    strategy, position = engine.Strategy, engine.Position
    strategy.buy, strategy.sell = placing(strategy.buy), placing(strategy.sell)
    engine.Trade.close = noting_close(engine.Trade.close)
    strategy.equity = property(lambda self: self._broker.equity / PIECES)
    for name in ("trades", "closed_trades", "orders"):
        setattr(strategy, name, in_units(name))
    broker = "_Position__broker"
    position.size = property(lambda self: getattr(self, broker)._position_size / PIECES)
    position.pl = property(lambda self: getattr(self, broker)._position_unrealized_pl / PIECES)
    position.pl_pct = property(
        lambda self: (
            getattr(self, broker)._position_unrealized_pl / (getattr(self, broker)._position_initial_value or 1) * 100
        )
    )


adapt_library()


@contextlib.contextmanager
def without_statistics():
    """Within this, a run yields its strategy alone: a check for look-ahead needs no sums, most of a short run."""
    kept = engine.compute_stats
    engine.compute_stats = lambda **given: types.SimpleNamespace(_strategy=given["strategy_instance"])
    try:
        yield
    finally:
        engine.compute_stats = kept
