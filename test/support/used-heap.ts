import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that this process still uses after a garbage collection. */
export function usedHeapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
