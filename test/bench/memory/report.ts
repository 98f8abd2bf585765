import { markdownTable } from '../markdown-table.ts';
import { LIMITS, type KeyMemory } from './measure.ts';

const NOTE = `Bytes by \`MEMORY USAGE\` of all that Redis keeps of one key whose limit is used up, evenly
over the window where that matters. Peers count fixed windows;
the sorted-set log has an entry for each request, which is what an exact window costs without more thought.`;

export function memoryReport(found: readonly KeyMemory[]): string {
  const limiters = [...new Set(found.map(({ limiter }) => limiter))];
  const bytesAt = (limiter: string, limit: number): number =>
    found.find((one) => one.limiter === limiter && one.limit === limit)?.bytes ?? NaN;
  const columns = [
    { head: 'limiter', cell: (limiter: string) => limiter },
    ...LIMITS.map((limit) => ({
      head: `limit ${limit.toLocaleString('en-US')}`,
      cell: (limiter: string) => bytesAt(limiter, limit),
    })),
  ];
  return ['## Memory of one key', markdownTable(columns, limiters), NOTE].join('\n\n');
}
