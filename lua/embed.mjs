// Writes the scripts of this folder into src/redis/lua-sources.ts, so that the library needs no file at run time and
// works bundled into one. `npm run build` calls it; a test compares.
import { readFileSync, writeFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(`${name}.lua`, import.meta.url), 'utf8');
const quoted = (text) => '`' + text.replace(/[\\`]|\$\{/g, '\\$&') + '`';

export function luaSources() {
  const of = (...names) => quoted(`${names.map(read).join('\n')}\n`);
  return `// Made from lua/*.lua by lua/embed.mjs: change those.

const LOGS = ${of('exact-logs', 'compact-logs')};
const WINDOW = LOGS + ${of('window')};
const ARGUMENTS = ${of('arguments')};
const ONE_REQUEST = ARGUMENTS + ${of('one-request')};

/** The scripts, each with what it shares with others before it. */
export const LUA_SOURCES = {
  consume: ${of('single-admission')} + ARGUMENTS + WINDOW + ${of('requests', 'warm-up', 'charging', 'consume')},
  peek: ONE_REQUEST + WINDOW + ${of('peek-request', 'warm-up', 'peek')},
  refund: ONE_REQUEST + LOGS + ${of('refund')},
  'read-rules': ${of('read-rules')},
  'override-rule': ${of('override-rule')},
} as const;
`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(new URL('../src/redis/lua-sources.ts', import.meta.url), luaSources());
}
