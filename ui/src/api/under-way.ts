/** What the page has asked for and not got yet: while that is something, it is not what it will be. */

let n = 0;

export const isUnderWay = (): boolean => n > 0;

/** Counts some work until it is done. */
export async function underWay<T>(work: Promise<T>): Promise<T> {
  n += 1;
  try {
    return await work;
  } finally {
    n -= 1;
  }
}
