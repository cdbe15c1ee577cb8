"""What a message is about, as one of the four topics a trading assistant tells apart."""

# In the order they are tried. Korean words stand beside the English ones they translate.
_TOPICS = {
    "strategy": ("strategy", "strategies", "backtest", "trading system", "전략", "백테스트"),
    "indicator": ("indicator", "rsi", "macd", "moving average", "지표", "이동평균"),
    "analysis": ("analyze", "analyse", "analysis", "chart", "price action", "분석", "차트"),
    "risk": ("risk", "position size", "position sizing", "stop loss", "stop-loss", "리스크", "위험", "손절"),
}
GENERAL_TOPIC = "general trading discussion"


def infer_topic(message: str) -> str:
    """The first topic with a word in `message`, else `general trading discussion`."""
    text = message.casefold()
    return next((topic for topic, words in _TOPICS.items() if any(word in text for word in words)), GENERAL_TOPIC)
