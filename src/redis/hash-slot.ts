const SLOTS = 16_384;

/** What Redis Cluster hashes of a key: the part in its first braces, or all of it when there is none or it is empty. */
export function hashTag(key: string): string {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  return open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
}

/** CRC16 of each byte: XMODEM, polynomial 0x1021. */
const CRC_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The slot of a key, as the Redis Cluster specification ("Key distribution model") says. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashTag(key))) crc = ((crc << 8) & 0xffff) ^ CRC_OF_BYTE[(crc >> 8) ^ byte]!;
  return crc % SLOTS;
}

const tagsBySlot: string[] = [];

/** A short tag of this slot, always the same: numbers are tried, all slots in some hundredths of a second, once. */
export function tagOfSlot(slot: number): string {
  for (let n = 0, missing = tagsBySlot.length === 0 ? SLOTS : 0; missing > 0; n++) {
    const tag = n.toString(36);
    const found = slotOf(tag);
    if (tagsBySlot[found] !== undefined) continue;
    tagsBySlot[found] = tag;
    missing--;
  }
  return tagsBySlot[slot]!;
}
