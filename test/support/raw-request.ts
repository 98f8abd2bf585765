import { connect } from 'node:net';

/** A request as its bytes: fields may be repeated, empty, or such as HTTP clients refuse to send. */
export interface RawRequest {
  /** Method and path. */
  readonly target: string;
  /** Whole lines, besides `Host` and those that the body needs, unless they are among these. */
  readonly fields?: readonly string[];
  readonly body?: string | Buffer;
}

/** Sends a request over a connection of its own and gives the status of the answer. */
export async function sendRaw(url: string, { target, fields = [], body }: RawRequest): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const isGiven = (name: string): boolean => fields.some((field) => field.toLowerCase().startsWith(`${name}:`));
  const usual = {
    host,
    connection: 'close',
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  const own = Object.entries(usual).filter(([name]) => !isGiven(name));
  const head = [`${target} HTTP/1.1`, ...own.map(([name, value]) => `${name}: ${value}`), ...fields];

  const socket = connect(Number(port), hostname);
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body ?? '')]));
  const answer: Buffer[] = [];
  for await (const chunk of socket) answer.push(chunk as Buffer);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(Buffer.concat(answer).toString('latin1'))?.[1]);
}
