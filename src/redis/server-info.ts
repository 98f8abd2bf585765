import type { StoreWarningEvent } from '../core/store-event.ts';

const OLDEST_VERSION = [6, 2] as const;

/** A field in the reply of INFO. */
export const infoField = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];

/** What the reply of INFO says against keeping limits in this server. */
export function serverWarnings(info: string): readonly StoreWarningEvent[] {
  const field = (name: string) => infoField(info, name);
  const warnings: StoreWarningEvent[] = [];
  const version = field('redis_version');
  if (version !== undefined && isOld(version)) {
    const message = `Redis is of version ${version}; Floodgate needs ${OLDEST_VERSION.join('.')} or newer`;
    warnings.push({ type: 'warning', code: 'FLOODGATE_OLD_REDIS', message });
  }
  const policy = field('maxmemory_policy');
  // Without a bound on its memory a server evicts nothing, whatever the policy.
  if (policy !== undefined && policy !== 'noeviction' && field('maxmemory') !== '0') {
    const message =
      `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), and whose key is gone starts anew: ` +
      'set maxmemory-policy noeviction';
    warnings.push({ type: 'warning', code: 'FLOODGATE_EVICTING_REDIS', message });
  }
  return warnings;
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1]);
}
