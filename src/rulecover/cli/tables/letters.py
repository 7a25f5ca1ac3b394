"""The encoding of a text: named, marked at its beginning, or recognised by its first letters that are not ASCII."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.reading import Reading
from rulecover.cli.tables.streams import BLOCK, Found, Peekable, blocks_of

_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def utf8_blocks(file: Peekable, name: str, reading: Reading, found: Found) -> Iterator[bytes]:
    """The text of a file as UTF-8."""
    start = file.peek(BLOCK)
    encoding = reading.encoding or _encoding_at_start(start)
    if encoding is None:
        return _guessed(blocks_of(file), name, found)
    if reading.encoding is None and encoding != "utf-8":
        found.note(f"{name} is read as {encoding.upper()}.")
    return _decoded(blocks_of(file), "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding, name)


def _encoding_at_start(start: bytes) -> str | None:
    """The encoding that a byte order mark names, or zeros at every other place give away."""
    for mark, encoding in _BOMS.items():
        if start.startswith(mark):
            return encoding
    looked_at = start[:4096]
    even, odd = looked_at[::2].count(0), looked_at[1::2].count(0)
    half = len(looked_at) / 2
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 * half and odd < 0.05 * half else None


def _decoded(blocks: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise CommandError(
            f"{name} is not text in {encoding} ({error}); name another encoding with --encoding."
        ) from error


def _guessed(blocks: Iterator[bytes], name: str, found: Found) -> Iterator[bytes]:
    """Bytes as they are while all of them are ASCII; the first others decide between UTF-8 and Windows-1252."""
    for block in blocks:
        if block.isascii():
            yield block
            continue
        while _ends_within_a_letter(block) and (more := next(blocks, b"")):
            block += more  # noqa: PLW2901  # the same block, up to the end of a letter
        if _is_utf8(block):
            yield block
            yield from blocks  # whoever decodes it checks it
            return
        if _is_mostly_utf8(block):
            raise CommandError(
                f"{name} is not in one encoding throughout: most of it is UTF-8, but not all; save the table as CSV "
                "(UTF-8) again, or name its encoding with --encoding."
            )
        found.note(f"{name} is not UTF-8 and is read as Windows-1252; --encoding names another encoding.")
        yield _western(block, name)
        yield from (_western(each, name) for each in blocks)
        return


def _ends_within_a_letter(block: bytes) -> bool:
    """Whether the only bytes that are not ASCII may be the beginning of a letter in UTF-8 at the end."""
    tail = block[-3:]
    return block[:-3].isascii() and not tail.isascii() and not _is_utf8(block, whole=True) and _is_utf8(block)


def _is_utf8(block: bytes, *, whole: bool = False) -> bool:
    """Whether a block is UTF-8, up to the beginning of a letter at its end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def _is_mostly_utf8(block: bytes) -> bool:
    """Whether most of the bytes that are not ASCII are letters in UTF-8."""
    letters = re.findall(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}", block)
    return 2 * sum(map(len, letters)) > len(re.findall(rb"[\x80-\xff]", block))


def _western(block: bytes, name: str) -> bytes:
    foreign = re.search(rb"[\x80-\xff]{5,}", block)  # no western word has as many letters with accents in a row
    try:
        if foreign is None:
            return block.decode("cp1252").encode()
    except UnicodeDecodeError:
        pass
    raise CommandError(
        f"{name} is neither UTF-8 nor Windows-1252; save it as CSV (UTF-8), or name its encoding with --encoding, such "
        "as cp1251 or shift_jis."
    )
