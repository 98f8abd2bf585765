import type { LoggerService } from '@nestjs/common';

/** A logger that keeps what the library says. */
export class LogLines implements LoggerService {
  readonly #lines: { level: string; text: string }[] = [];

  log(message: unknown): void {
    this.#add('log', message);
  }

  warn(message: unknown): void {
    this.#add('warn', message);
  }

  error(message: unknown): void {
    this.#add('error', message);
  }

  /** The lines that this pattern is found in. */
  matching(pattern: RegExp): readonly string[] {
    return this.#lines.map(({ level, text }) => `${level}: ${text}`).filter((line) => pattern.test(line));
  }

  get errors(): readonly string[] {
    return this.matching(/^error: /);
  }

  #add(level: string, message: unknown): void {
    this.#lines.push({ level, text: String(message) });
  }
}
