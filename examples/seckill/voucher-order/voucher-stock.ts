/** What is left of each voucher. */
export abstract class VoucherStock {
  /** Takes one voucher out, in one step, so that none is sold twice. False when none is left. */
  abstract take(voucherId: string): Promise<boolean>;
}
