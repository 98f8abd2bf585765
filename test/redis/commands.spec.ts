import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';

/** The oldest Redis that is supported. */
const SUPPORTED = '6.2.0';

/** What the scripts may call, with the version of Redis that each command and each option appeared in. */
const COMMANDS: Readonly<Record<string, { since: string; options?: Readonly<Record<string, string>> }>> = {
  GET: { since: '1.0.0' },
  PEXPIRE: { since: '2.6.0' },
  PUBLISH: { since: '2.0.0' },
  SET: { since: '1.0.0', options: { NX: '2.6.12', PX: '2.6.12' } },
  TIME: { since: '2.6.0' },
  ZADD: { since: '1.2.0', options: { NX: '3.0.2', XX: '3.0.2' } },
  ZCARD: { since: '1.2.0' },
  ZCOUNT: { since: '2.0.0' },
  ZRANGE: { since: '1.2.0', options: { WITHSCORES: '1.2.0' } },
  ZRANGEBYSCORE: { since: '1.0.5', options: { LIMIT: '1.0.5' } },
  ZREM: { since: '1.2.0' },
  ZREMRANGEBYRANK: { since: '2.0.0' },
  ZSCORE: { since: '1.2.0' },
};
/** What the library sends itself, and the functions that Redis gives to scripts. */
const SENT: Readonly<Record<string, string>> = {
  eval: '2.6.0',
  evalsha: '2.6.0',
  info: '1.0.0',
  script: '2.6.0',
  subscribe: '2.0.0',
  unlink: '4.0.0',
};
const FUNCTIONS: Readonly<Record<string, string>> = { call: '2.6.0', error_reply: '2.6.0', pcall: '2.6.0' };
/** Members of a client that send no command. */
const NO_COMMANDS = ['connect', 'disconnect', 'nodes', 'on', 'quit', 'removeListener', 'status', 'stream'];

const filesIn = (folder: string, extension: string): readonly { name: string; text: string }[] => {
  const url = new URL(`../../${folder}/`, import.meta.url);
  const names = readdirSync(url).filter((name) => name.endsWith(extension));
  return names.map((name) => ({ name, text: readFileSync(new URL(name, url), 'utf8') }));
};
const scripts = filesIn('lua', '.lua').map(({ name, text }) => ({ name, text: text.replaceAll(/--.*$/gm, '') }));
const found = (texts: readonly { text: string }[], pattern: RegExp): readonly string[] =>
  [...new Set(texts.flatMap(({ text }) => [...text.matchAll(pattern)].map((match) => match[1]!)))].sort();

interface Call {
  readonly script: string;
  readonly command: string;
  /** Words in capitals among the arguments. */
  readonly options: readonly string[];
}

const calls: readonly Call[] = scripts.flatMap(({ name, text }) =>
  [...text.matchAll(/redis\.p?call\(/g)].map((start) => {
    const words = [...argumentsAt(text, start.index + start[0].length).matchAll(/'([A-Z]+)'/g)].map(
      ([, word]) => word!,
    );
    return { script: name, command: words[0] ?? '', options: words.slice(1) };
  }),
);

/** What stands between the bracket before `from` and the one that closes it. */
function argumentsAt(text: string, from: number): string {
  let depth = 1;
  let end = from;
  for (; depth > 0 && end < text.length; end++) depth += text[end] === '(' ? 1 : text[end] === ')' ? -1 : 0;
  return text.slice(from, end - 1);
}

const isSupported = (since = 'never'): boolean => since.localeCompare(SUPPORTED, 'en', { numeric: true }) <= 0;

describe('the commands that are sent to Redis', () => {
  it('are called in scripts by a name that can be read there', () => {
    expect(calls.length).toBeGreaterThan(10);
    expect(calls.filter(({ command }) => command === '')).toEqual([]);
    for (const { text } of scripts) expect(text).not.toMatch(/redis\.p?call\((?!')|redis\[|= *redis\b(?!\.)/);
  });

  it(`are all in Redis ${SUPPORTED}, with their options`, () => {
    const tooNew = calls.filter(({ command, options }) => {
      const known = COMMANDS[command];
      return !isSupported(known?.since) || !options.every((option) => isSupported(known?.options?.[option]));
    });
    expect(tooNew).toEqual([]);
  });

  it('are those of the list, and the list has no others', () => {
    expect([...new Set(calls.map(({ command }) => command))].sort()).toEqual(Object.keys(COMMANDS).sort());
    for (const [name, { options = {} }] of Object.entries(COMMANDS)) {
      const used = calls.filter(({ command }) => command === name).flatMap((call) => call.options);
      expect([...new Set(used)].sort()).toEqual(Object.keys(options).sort());
    }
  });

  it('never walk through the keys of a server', () => {
    expect(calls.map(({ command }) => command)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/SCAN|^KEYS$/)]),
    );
  });

  it(`use only what scripts of Redis ${SUPPORTED} are given`, () => {
    const used = found(scripts, /\bredis\.(\w+)/g);
    expect(used).toEqual(Object.keys(FUNCTIONS).sort());
    expect(used.filter((name) => !isSupported(FUNCTIONS[name]))).toEqual([]);
  });

  it('are few besides the scripts', () => {
    const members = found(filesIn('src/redis', '.ts'), /(?<![-\w])(?:client|server)\.(\w+)/g);
    const sent = members.filter((name) => !NO_COMMANDS.includes(name));
    expect(sent).toEqual(Object.keys(SENT).sort());
    expect(sent.filter((name) => !isSupported(SENT[name]))).toEqual([]);
  });
});
