import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import { bytes } from '../../lib/format.ts'
import { visible } from '../../lib/visible.ts'
import { Failed } from '../../ui/failed.tsx'
import { Icon } from '../../ui/icon.tsx'
import { clip } from '../../ui/icons.ts'
import { Bytes, Text } from '../../ui/page.tsx'
import { RemoveRow } from '../../ui/rows.tsx'
import type { Attached } from './draft-email.ts'
import { maxUpload, upload } from './jmap.ts'
import { t } from './words.ts'

/** The files of a draft. Each is uploaded when it is chosen. */
export function Attach({
  accountId,
  attached,
  change,
  onBusy,
}: {
  accountId: string
  attached: readonly Attached[]
  /** Gets the change, because other files may arrive while one is uploaded. */
  change(edit: (now: Attached[]) => Attached[]): void
  onBusy(count: number): void
}) {
  const [running, setRunning] = useState<readonly string[]>([])
  const [error, setError] = useState<ApiError>()
  useEffect(() => onBusy(running.length), [running.length])

  const add = async (files: File[]) => {
    setError(undefined)
    for (const file of files) {
      setRunning((now) => [...now, file.name])
      try {
        const limit = await maxUpload()
        if (file.size > limit) {
          throw new ApiError({ status: 413, message: t.tooLarge(file.name, bytes(limit)) })
        }
        const { blobId, type, size } = await upload(accountId, file)
        change((now) => [...now, { blobId, name: file.name, type, size }])
      } catch (problem) {
        setError(problem as ApiError)
      } finally {
        setRunning((now) => now.filter((_, at) => at !== now.indexOf(file.name)))
      }
    }
  }
  return (
    <div class="attach">
      <Failed error={error} />
      <label class="button small">
        <Icon path={clip} size={15} />
        {t.attach}
        <input
          class="hidden"
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            void add([...(currentTarget.files ?? [])])
            currentTarget.value = ''
          }}
        />
      </label>
      <ul class="files" aria-label={t.attachments}>
        {attached.map((file) => (
          <li key={file.blobId}>
            <span class="clip">
              <Text>{file.name}</Text>
            </span>{' '}
            <span class="muted">
              <Bytes value={file.size} />
            </span>
            <RemoveRow
              name={t.remove(visible(file.name))}
              hidden={false}
              remove={() => change((now) => now.filter((one) => one !== file))}
            />
          </li>
        ))}
        {running.map((name) => (
          <li key={name} class="muted" role="status">
            {t.uploading(visible(name))}
          </li>
        ))}
      </ul>
    </div>
  )
}
