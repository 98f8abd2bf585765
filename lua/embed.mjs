// Writes the scripts of this folder into src/redis/lua-sources.ts, so that the library needs no file at run time and
// works bundled into one. `npm run build` calls it; a test compares.
import { readFileSync, writeFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(`${name}.lua`, import.meta.url), 'utf8');
const quoted = (text) => '`' + text.replace(/[\\`]|\$\{/g, '\\$&') + '`';

export function luaSources() {
  const consume = `${read('charge')}\n${read('consume')}`;
  const sources = { consume, peek: read('peek'), refund: read('refund') };
  const scripts = Object.entries(sources).map(([name, source]) => `  ${name}: WINDOW + ${quoted(source)},`);
  return `// Made from lua/*.lua by lua/embed.mjs: change those.

const WINDOW = ${quoted(`${read('window')}\n`)};

/** The scripts, each with what they share before it. */
export const LUA_SOURCES = {
${scripts.join('\n')}
} as const;
`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(new URL('../src/redis/lua-sources.ts', import.meta.url), luaSources());
}
