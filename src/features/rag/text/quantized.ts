/** The length of a signature, for every model. */
const SIGNATURE_BITS = 512

/** One signed byte for each dimension. The cosine does not depend on the scale. */
export function toBytes(vector: Float32Array): Buffer {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const bytes = Buffer.alloc(vector.length)
  if (largest === 0) return bytes
  const scale = 127 / largest
  for (let i = 0; i < vector.length; i++) {
    bytes.writeInt8(Math.round((vector[i] as number) * scale), i)
  }
  return bytes
}

/** The cosine of a query and a stored vector; 0 if they cannot be compared. */
export function cosine(question: Float32Array, bytes: Buffer): number {
  if (bytes.length !== question.length) return 0
  let product = 0
  let ours = 0
  let theirs = 0
  for (let i = 0; i < bytes.length; i++) {
    const value = ((bytes[i] as number) << 24) >> 24
    const other = question[i] as number
    product += value * other
    theirs += value * value
    ours += other * other
  }
  return ours === 0 || theirs === 0 ? 0 : product / Math.sqrt(ours * theirs)
}

/** One bit for each dimension, set if the value is positive; as hexadecimal digits. */
export const signatureOf = (vector: Float32Array): string =>
  bitsOf(folded(vector), (value) => value > 0)

/** The bits of a query to compare: the sign of a value near zero is chance. */
export function maskOf(vector: Float32Array): string {
  const short = folded(vector)
  let sum = 0
  for (const value of short) sum += Math.abs(value)
  const least = sum / short.length / 2
  return bitsOf(short, (value) => Math.abs(value) > least)
}

/** Folds longer vectors. Random signs keep dot products correct on average. */
function folded(vector: Float32Array): Float32Array {
  if (vector.length === SIGNATURE_BITS) return vector
  const short = new Float32Array(SIGNATURE_BITS)
  for (let i = 0; i < vector.length; i++) {
    const sign = Math.imul(i + 1, 0x9e3779b1) >>> 31 === 0 || i < SIGNATURE_BITS ? 1 : -1
    const at = i % SIGNATURE_BITS
    short[at] = (short[at] as number) + sign * (vector[i] as number)
  }
  return short
}

function bitsOf(vector: Float32Array, isSet: (value: number) => boolean): string {
  const bytes = Buffer.alloc(SIGNATURE_BITS / 8)
  for (let i = 0; i < vector.length; i++) {
    if (isSet(vector[i] as number)) bytes[i >> 3] = (bytes[i >> 3] as number) | (128 >> (i & 7))
  }
  return bytes.toString('hex')
}
