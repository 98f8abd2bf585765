import { describe, expect, it } from '@jest/globals';
import { AnswerReader } from './answer-reader.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello';
const REFUSED = 'HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n';

describe('the reader of answers', () => {
  it('tells the status of one answer after another', () => {
    const reader = new AnswerReader();
    expect([reader.read(OK), reader.read(REFUSED), reader.read(OK)]).toEqual([200, 429, 200]);
  });

  it('waits until an answer is whole, wherever it was cut', () => {
    for (let cut = 1; cut < OK.length; cut++) {
      const reader = new AnswerReader();
      expect([reader.read(OK.slice(0, cut)), reader.read(OK.slice(cut))]).toEqual([undefined, 200]);
    }
  });

  it.each([
    ['there is more than an answer', `${OK}?`],
    ['does not say its length', 'HTTP/1.1 200 OK\r\n\r\n'],
  ])('says that %s', (message, text) => {
    expect(() => new AnswerReader().read(text)).toThrow(message);
  });
});
