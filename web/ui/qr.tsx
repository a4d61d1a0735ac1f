import { qrModules } from '../lib/qr.ts'

const BORDER = 3

/** A QR code as one path; always dark on white, so that cameras read it in the dark theme too. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const modules = qrModules(text)
  const size = modules.length + 2 * BORDER
  const path = modules
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + BORDER} ${y + BORDER}h1v1h-1z` : '')))
    .join('')
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={`M0 0h${size}v${size}H0z`} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
