/** One voucher, sold. */
export interface VoucherOrder {
  readonly id: string;
  readonly voucherId: string;
  readonly userId: string;
}
