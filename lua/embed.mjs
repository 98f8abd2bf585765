// Writes the scripts of this folder into src/redis/lua-sources.ts, so that the library needs no file at run time and
// works bundled into one. `npm run build` calls it; a test compares.
import { readFileSync, writeFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(`${name}.lua`, import.meta.url), 'utf8');
const quoted = (text) => '`' + text.replace(/[\\`]|\$\{/g, '\\$&') + '`';

export function luaSources() {
  const reading = ['arguments', 'slices', 'window'].map(read).join('\n');
  return `// Made from lua/*.lua by lua/embed.mjs: change those.

const READING = ${quoted(`${reading}\n`)};
const WRITING = READING + ${quoted(`${read('writing')}\n`)};

/** The scripts, each with what it shares with others before it. */
export const LUA_SOURCES = {
  consume: WRITING + ${quoted(read('consume'))},
  peek: READING + ${quoted(read('peek'))},
  refund: WRITING + ${quoted(read('refund'))},
} as const;
`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(new URL('../src/redis/lua-sources.ts', import.meta.url), luaSources());
}
