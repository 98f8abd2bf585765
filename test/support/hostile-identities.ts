import type { RawRequest } from './raw-request.ts';

const LONG = 'x'.repeat(65_535);

/** Texts that clients may give as who they are, each another one. */
const HOSTILE_TEXTS: readonly string[] = [
  'alice',
  'Alice',
  'alice@example.com',
  ' alice',
  'alice ',
  'alice\t',
  'alice\0',
  '\0',
  'alice\n',
  'alice\r\nSET x y',
  '\r',
  '\u001b[2J',
  '\u0007',
  '\u007f',
  '\u0085',
  '\u009b31m',
  '\u00a0',
  '\u200balice',
  '\u200falice',
  '\u202ealice',
  '\u2066alice',
  '\u2028',
  '\ufeffalice',
  '{',
  '}',
  '{}',
  '{alice}',
  'alice}{bob',
  '{key:alice}:POST /body',
  'alice}:POST /body',
  'alice:10000',
  'key:alice',
  'anon-key:127.0.0.1',
  '127.0.0.1',
  '%',
  '%41',
  '%7Balice%7D',
  `%${'A'.repeat(43)}`,
  '#',
  '*',
  '[a-z]*',
  '\\',
  '\\u0000',
  '"',
  "'",
  "' OR 1=1 --",
  '`$(id)`',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'undefined',
  'null',
  'true',
  'NaN',
  '-1',
  '[object Object]',
  '\u00e9',
  'e\u0301',
  'E\u0301',
  '\u212b',
  '\u00c5',
  'A\u030a',
  'ﬁ',
  'fi',
  'İ',
  'ß',
  'ss',
  'аlice',
  '秒杀',
  '😀',
  '👩‍👩‍👧',
  '\ud83d',
  '\ude00',
  '\ude00\ud83d',
  '\ufffd',
  '\uffff',
  'y'.repeat(64),
  'y'.repeat(65),
  `${LONG}a`,
  `${LONG}b`,
];

const isWellFormed = (text: string): boolean => Buffer.from(text).toString() === text;
/** HTTP forbids control characters in a field, and spaces around its value are no part of it. */
const fitsField = (text: string): boolean =>
  isWellFormed(text) && text.length < 10_000 && !/\p{Cc}|^\s|\s$/u.test(text);

const inQuery = (path: string): readonly RawRequest[] =>
  HOSTILE_TEXTS.filter((text) => isWellFormed(text) && text.length < 10_000).map((text) => ({
    target: `GET ${path}?name=${encodeURIComponent(text)}`,
  }));

/** Each names another client. */
export const WHO_IN: Readonly<Record<'body' | 'query' | 'user' | 'field', readonly RawRequest[]>> = {
  body: HOSTILE_TEXTS.map((email) => ({ target: 'POST /body', body: JSON.stringify({ email }) })),
  query: inQuery('/query'),
  user: inQuery('/user'),
  field: HOSTILE_TEXTS.filter(fitsField).map((text) => ({ target: 'GET /field', fields: [`X-API-Key: ${text}`] })),
};

const NO_EMAILS: readonly string[] = [
  '""',
  'null',
  'true',
  'false',
  '[]',
  '{}',
  '1e400',
  '-1e400',
  '["alice"]',
  '["alice","bob"]',
  '[["alice"]]',
  '[null]',
  '{"$ne":null}',
  '{"toString":"alice"}',
  '{"toString":null,"valueOf":null}',
  '{"length":5,"0":"a"}',
  '{"__proto__":"alice"}',
  '{"then":"alice"}',
  '{"toJSON":"alice"}',
  `${'['.repeat(500)}${']'.repeat(500)}`,
];

const BODIES: readonly string[] = [
  '{}',
  '[]',
  'null',
  '0',
  'true',
  '"alice"',
  '[{"email":"alice"}]',
  '{"Email":"alice"}',
  '{"email ":"alice"}',
  '{"__proto__":{"email":"alice"}}',
  '{"constructor":{"prototype":{"email":"alice"}}}',
  '{"toString":"alice","email":null}',
  '{"email":"alice"',
  '{"email":alice}',
  "{'email':'alice'}",
  '\0',
  '',
  ...NO_EMAILS.map((email) => `{"email":${email}}`),
];

const QUERIES = [
  '',
  '?',
  '?name',
  '?name=',
  '?name=a&name=b',
  '?name=a&name=a',
  '?name[]=a',
  '?name[x]=a',
  '?Name=a',
  '?=a',
  '?&&',
];

/** None of these says who the client is. */
export const WITHOUT_WHO: readonly RawRequest[] = [
  ...BODIES.map((body) => ({ target: 'POST /body', body })),
  { target: 'POST /body' },
  ...QUERIES.flatMap((query) => [{ target: `GET /query${query}` }, { target: `GET /user${query}` }]),
  { target: 'GET /field' },
  ...['X-API-Key:', 'X-API-Key:  \t ', 'X_API_Key: alice', 'X-API-Key-: alice'].map((field) => ({
    target: 'GET /field',
    fields: [field],
  })),
];

const asAlice = (target: string, ...fields: readonly string[]): RawRequest => ({
  target,
  fields: ['X-API-Key: alice', ...fields],
});
const bodyOfAlice = (body: string | Buffer, ...fields: readonly string[]): RawRequest => ({
  target: 'POST /body',
  fields,
  body,
});

/** Other ways for alice to say who she is. */
export const ALICE_AGAIN: readonly RawRequest[] = [
  ...['GET /field/', 'GET //field', 'GET /FIELD', 'GET /%66ield', 'GET /field?', 'GET /field?x=1', 'GET /field#x'].map(
    (target) => asAlice(target),
  ),
  ...['GET /./field', 'GET /x/../field', 'GET /field;x=1', 'GET http://example.com/field', 'HEAD /field'].map(
    (target) => asAlice(target),
  ),
  ...[
    'X-Forwarded-For: bob',
    'Forwarded: for=bob',
    'Host: bob',
    'X-HTTP-Method-Override: POST',
    'Cookie: user=bob',
    'Expect:',
  ].map((field) => asAlice('GET /field', field)),
  ...['Authorization: Bearer bob', 'Cache-Control: no-cache', 'Origin: null', 'X-RateLimit-Remaining: 9'].map((field) =>
    asAlice('GET /field', field),
  ),
  bodyOfAlice('{"email":"\\u0061lice"}'),
  bodyOfAlice(' {\n"email" : "alice"\t} '),
  bodyOfAlice('{"email":"bob","email":"alice"}'),
  bodyOfAlice('{"email":"alice","Email":"bob","user":{"email":"bob"}}'),
  bodyOfAlice('\ufeff{"email":"alice"}'),
  bodyOfAlice('{"email":"alice"}', 'Content-Type: application/json; charset=UTF-8'),
  bodyOfAlice(Buffer.from('{"email":"alice"}', 'utf16le'), 'Content-Type: application/json; charset=utf-16le'),
  bodyOfAlice('{"email":"alice"}', 'Content-Type: application/JSON'),
  ...[
    'GET /query?name=alice&x',
    'GET /query?%6eame=%61lice',
    'GET /query?x&name=alice&',
    'GET /query/?name=alice',
    'GET /user?name=alice&',
    'GET /user?user=bob&name=alice',
  ].map((target) => ({ target })),
];
