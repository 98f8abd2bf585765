const HEAD_END = '\r\n\r\n';

/** Reads the answers of one connection, of which there is one at a time. Bodies have to say their length. */
export class AnswerReader {
  #text = '';

  /**
   * @param chunk Latin-1, so that characters are bytes
   * @returns the status, once the answer is whole
   */
  read(chunk: string): number | undefined {
    this.#text += chunk;
    const headEnd = this.#text.indexOf(HEAD_END);
    if (headEnd < 0) return undefined;
    const head = this.#text.slice(0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) throw new Error(`an answer does not say its length:\n${head}`);
    const missing = headEnd + HEAD_END.length + Number(length) - this.#text.length;
    if (missing > 0) return undefined;
    if (missing < 0) throw new Error(`there is more than an answer:\n${this.#text}`);
    this.#text = '';
    return Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  }
}
