import { useState } from 'preact/hooks'
import { toast } from './toast.tsx'
import { t } from './words.ts'

interface Props {
  text: string
  /** The name of the copied value, for screen readers. */
  label: string
  children?: string
}

export function Copy({ text, label, children = t.copy }: Props) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      toast(t.copyFailed)
      return
    }
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <>
      <button type="button" class="small copy" onClick={copy}>
        {copied ? t.copied : children}
        <span class="hidden"> {label}</span>
      </button>
      <span class="hidden" role="status">
        {copied && t.copiedWhat(label)}
      </span>
    </>
  )
}

/** A link that saves a text as a file; nothing is sent anywhere. */
export const Download = ({
  name,
  text,
  children = t.download,
}: {
  name: string
  text: string
  children?: string
}) => (
  <a
    class="button small"
    download={name}
    href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
  >
    {children}
  </a>
)
