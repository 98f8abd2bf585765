import { Logger } from '@nestjs/common';
import type { StoreEvent } from '../core/store-event.ts';
import type { Warnings } from './warnings.ts';

const logger = new Logger('RateLimit');

/** Tells in the log what the store tells of itself. */
export function tellStoreEvent(event: StoreEvent, warnings: Warnings): void {
  if (event.type === 'warning') warnings.tell(event.code, event.message);
  else if (event.type === 'forgot') logger.warn(`${event.message}. Limits may be exceeded until a window has passed`);
  else if (event.type === 'clock-stepped') logger.warn(`The clock of Redis stepped by ${event.byMs} ms`);
  else if (event.type === 'available') logger.log('The store answers again');
  else
    logger.error(
      `The store cannot decide (${event.error.kind}), so the policies in onStoreError do until it can: ${event.error.message}`,
    );
}
