const PATIENCE_MS = 3_000;

/** Waits until this holds, for what another process does in its own time. @throws Error when it does not come to hold */
export async function eventually(holds: () => Promise<boolean>, patienceMs = PATIENCE_MS): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`still not so after ${patienceMs} ms: ${String(holds)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
