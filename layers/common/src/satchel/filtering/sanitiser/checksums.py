"""Numbers that check themselves: payment cards and bank accounts."""

IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18,
    "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31,
    "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29,
    "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip


def digits_of(data: bytes) -> str:
    """The ASCII digits among the bytes."""
    return "".join(chr(byte) for byte in data if 48 <= byte <= 57)


def is_luhn(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1)."""
    total = 0
    for index, char in enumerate(reversed(digits)):
        digit = int(char)
        if index % 2:
            digit = digit * 2 - 9 if digit > 4 else digit * 2
        total += digit
    return total % 10 == 0


def is_iban(text: str) -> bool:
    """Whether the country's length and the remainder 1 modulo 97 hold (ISO 13616)."""
    compact = "".join(char for char in text.upper() if char.isalnum())
    if len(compact) != IBAN_LENGTHS.get(compact[:2], 0) or not compact.isascii():
        return False
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


def card_lengths(digits: str) -> range | None:
    """Lengths that the brand of this prefix issues; None where no brand has it."""
    two, three, four = int(digits[:2]), int(digits[:3]), int(digits[:4])
    if digits[0] == "4":
        return range(13, 20, 3)
    if 51 <= two <= 55 or 2221 <= four <= 2720:
        return range(16, 17)
    if two in {34, 37}:
        return range(15, 16)
    if 300 <= three <= 305 or two in {36, 38, 39}:
        return range(14, 17)
    if four == 6011 or two in {35, 62, 64, 65}:
        return range(16, 20)
    if four in {1800, 2131}:
        return range(15, 16)
    if two in {50, 56, 57, 58, 60, 61, 63, 66, 67, 68, 69}:
        return range(12, 20)
    return None
