import { isIP } from 'node:net'

/** The network of an address: without the last octet, or the last 64 bits. */
export function shortened(address: string): string {
  if (isIP(address) === 4) return address.replace(/\.\d+$/, '.0')
  if (isIP(address) !== 6) return address
  // Node writes every form of an IPv6 address in one way inside a URL.
  const plain = new URL(`http://[${address.replace(/%.*/, '')}]/`).hostname.slice(1, -1)
  const [head = '', tail] = plain.split('::')
  const words = (text: string) => (text === '' ? [] : text.split(':'))
  const [start, end] = [words(head), words(tail ?? '')]
  const all = [...start, ...new Array(8 - start.length - end.length).fill('0'), ...end]
  return `${all.slice(0, 4).join(':')}::`
}
