/** What a function made of a text, made once. Too many different texts begin anew. */
export function keptResults<Result extends object>(
  make: (text: string) => Result,
  most = 1000,
): (text: string) => Result {
  const results = new Map<string, Result>()
  return (text) => {
    const known = results.get(text)
    if (known) return known
    const result = make(text)
    if (results.size >= most) results.clear()
    results.set(text, result)
    return result
  }
}
