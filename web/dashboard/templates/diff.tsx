import { useQuery } from '../../lib/query.ts'
import { Source } from '../../ui/details.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

interface Props {
  id: string
  version: number
  /** The version that is compared with. */
  against: number
}

const MARKS = { same: '  ', removed: '- ', added: '+ ' }

/** The changed lines of a version, as text. */
export const Diff = ({ onClose, ...versions }: Props & { onClose(): void }) => (
  <Dialog
    title={t.diffTitle(versions.version, versions.against)}
    open
    onClose={onClose}
    size="wide"
  >
    <Texts {...versions} />
  </Dialog>
)

function Texts({ id, version, against }: Props) {
  const { data, error, again } = useQuery(`templates ${id} diff ${version} ${against}`, () =>
    api.get('/templates/{template_id}/versions/{version}/diff', {
      params: { template_id: id, version },
      query: { against },
    }),
  )
  const texts = data && [
    [t.subject, data.subject_template] as const,
    [t.text, data.html_content] as const,
    [t.plain, data.plaintext_content] as const,
  ]
  const changed = texts?.filter(([, lines]) => lines.some(({ kind }) => kind !== 'same'))
  return (
    <>
      <Failed error={error} again={again} />
      {changed?.length === 0 && <p class="muted">{t.noDiff}</p>}
      {changed?.map(([title, lines]) => (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          <Source
            label={title}
            text={lines.map(({ kind, text }) => MARKS[kind] + text).join('\n')}
          />
        </section>
      ))}
    </>
  )
}
