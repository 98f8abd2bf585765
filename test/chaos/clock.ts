/** Milliseconds since 1970, alike in all processes of the machine, with fractions. */
export const now = (): number => performance.timeOrigin + performance.now();
