import { useQuery } from '../../lib/query.ts'
import { visible } from '../../lib/visible.ts'
import { Icon } from '../../ui/icon.tsx'
import { clip } from '../../ui/icons.ts'
import { Bytes, Text } from '../../ui/page.tsx'
import { downloadUrl } from './jmap.ts'
import type { Message, Part } from './types.ts'
import { t } from './words.ts'

const nameOf = ({ name, type }: Part) => name || type

/** Links that save files; the browser opens none of them. */
export function AttachmentList({ accountId, message }: { accountId: string; message: Message }) {
  const { attachments, blobId } = message
  const whole = { blobId, name: 'message.eml', type: 'message/rfc822' }
  const { data: links } = useQuery(`mailfiles ${accountId} ${message.id}`, async () =>
    Promise.all(
      [...attachments.map((part) => ({ ...part, name: nameOf(part) })), whole].map((part) =>
        downloadUrl(accountId, part),
      ),
    ),
  )
  if (!links) return null
  return (
    <div>
      {attachments.length > 0 && (
        <ul class="files" aria-label={t.attachments}>
          {attachments.map((part, index) => (
            <li key={part.blobId}>
              <a class="button small" href={links[index]} download={visible(nameOf(part))}>
                <Icon path={clip} size={15} />
                <span class="clip">
                  <Text>{nameOf(part)}</Text>
                </span>
                <span class="muted">
                  <Bytes value={part.size} />
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      <a class="hint" href={links[attachments.length]} download={whole.name}>
        {t.source}
      </a>
    </div>
  )
}
