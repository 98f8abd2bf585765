/** Where a call was charged. */
export interface Origin {
  /** In this process, in place of the store. */
  readonly isLocal?: boolean;
  /** The store may have charged it besides, too late to answer. */
  readonly mayBeLate?: boolean;
  /** When this process counted what the store charged; milliseconds. */
  readonly rememberedAt?: number | undefined;
  /** Of the store, or of this process. */
  readonly receipt?: string | undefined;
}

/** The origin as a receipt, which the caller of a refund brings back. */
export function receiptOf({ isLocal, mayBeLate, rememberedAt, receipt }: Origin): string {
  if (isLocal) return `local:${mayBeLate ? 'late' : ''}:${receipt ?? ''}`;
  const moment = `at:${rememberedAt ?? ''}`;
  return receipt === undefined ? moment : `${moment}:${receipt}`;
}

/** The origin that a receipt tells; a receipt of somebody else is the store's own. */
export function originOf(text: string): Origin {
  const [, late, localReceipt] = /^local:(late)?:(.*)$/s.exec(text) ?? [];
  if (localReceipt !== undefined) {
    return { isLocal: true, mayBeLate: late !== undefined, receipt: localReceipt === '' ? undefined : localReceipt };
  }
  const [, rememberedAt, receipt] = /^at:([\d.]*)(?::(.*))?$/s.exec(text) ?? [];
  if (rememberedAt === undefined) return { receipt: text };
  return { rememberedAt: rememberedAt === '' ? undefined : Number(rememberedAt), receipt };
}
