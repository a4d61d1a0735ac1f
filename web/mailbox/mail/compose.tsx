import { useState } from 'preact/hooks'
import { useCapability } from '../../lib/may.ts'
import { useQuery } from '../../lib/query.ts'
import { go, useQueryState } from '../../lib/router.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Heading } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { AddressField } from './address-field.tsx'
import { parseAddresses, showAddresses } from './addresses.ts'
import { Attach } from './attach.tsx'
import { type Start, startDraft } from './start-draft.ts'
import { type Typed, useDraft } from './use-draft.ts'
import { composeUrl } from './use-mail.ts'
import { t } from './words.ts'

let pages = 0

/** The page for writing. The address names what it starts from; a stored draft replaces that. */
export function Compose() {
  const [wanted] = useQueryState('draft', 'reply', 'all', 'forward', 'account', 'to')
  const [asked] = useState(wanted)
  // Each visit starts anew: what an earlier one has read may have been sent since.
  const [page] = useState(() => pages++)
  const { data, error, again } = useQuery(`compose ${page}`, () => startDraft(asked))
  const title =
    asked.reply || asked.all ? t.writeReply : asked.forward ? t.writeForward : t.newMessage
  return (
    <>
      <Heading title={title} />
      <Failed error={error} again={again} />
      {data ? <Editor start={data} /> : !error && <p class="starting" aria-busy="true" />}
    </>
  )
}

const typedOf = (start: Start): Typed => ({
  identityId: start.identity?.id ?? '',
  to: showAddresses(start.to),
  cc: showAddresses(start.cc),
  bcc: showAddresses(start.bcc),
  subject: start.subject,
  text: start.text,
  attachments: start.attachments,
})

function Editor({ start: given }: { start: Start }) {
  // The page reads again when its tab becomes visible; what is written stays.
  const [start] = useState(given)
  const maySend = useCapability('send')
  const draft = useDraft(start, typedOf(start), (id) =>
    go(composeUrl({ draft: id }), { replace: true }),
  )
  const { typed, change, sending } = draft
  const [hasCopies, setCopies] = useState(start.cc.length + start.bcc.length > 0)
  const [uploads, setUploads] = useState(0)
  const [wrong, setWrong] = useState('')
  const [discarding, setDiscarding] = useState(false)

  const send = async () => {
    const problem = problemOf(typed)
    setWrong(problem)
    if (problem || !(await sending.run())) return
    toast(t.sent)
    go('/mailbox/mail')
  }
  return (
    <form
      class="stack compose card pad"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {!maySend && <p class="note warn">{t.noSend}</p>}
      <Failed error={sending.error} />
      {wrong && (
        <p class="failed" role="alert">
          {wrong}
        </p>
      )}
      {start.identities.length > 1 && (
        <div class="field">
          <label for="compose-from">{t.from}</label>
          <select
            id="compose-from"
            value={typed.identityId}
            onChange={(event) => change({ identityId: event.currentTarget.value })}
          >
            {start.identities.map((identity) => (
              <option key={identity.id} value={identity.id}>
                {showAddresses([identity])}
              </option>
            ))}
          </select>
        </div>
      )}
      <AddressField
        name="to"
        label={t.to}
        value={typed.to}
        autofocus={!typed.to}
        change={(to) => change({ to })}
      />
      {hasCopies ? (
        <div class="pair">
          <AddressField name="cc" label={t.cc} value={typed.cc} change={(cc) => change({ cc })} />
          <AddressField
            name="bcc"
            label={t.bcc}
            value={typed.bcc}
            change={(bcc) => change({ bcc })}
          />
        </div>
      ) : (
        <p>
          <button type="button" class="small" onClick={() => setCopies(true)}>
            {t.addCc}
          </button>
        </p>
      )}
      <div class="field">
        <label for="compose-subject">{t.subject}</label>
        <input
          id="compose-subject"
          value={typed.subject}
          autocomplete="off"
          onInput={(event) => change({ subject: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for="compose-text">{t.text}</label>
        <textarea
          id="compose-text"
          rows={14}
          dir="auto"
          ref={atStart(Boolean(typed.to))}
          value={typed.text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
      </div>
      <Attach
        accountId={start.accountId}
        attached={typed.attachments}
        change={draft.changeFiles}
        onBusy={setUploads}
      />
      <footer>
        <p class="hint" role="status">
          {t.states[draft.state]}
        </p>
        <button type="button" onClick={() => setDiscarding(true)} disabled={sending.busy}>
          {t.discard}
        </button>
        <button
          type="submit"
          class="primary"
          disabled={sending.busy || uploads > 0 || !maySend}
          aria-busy={sending.busy}
        >
          {sending.busy ? t.sending : t.send}
        </button>
      </footer>
      {draft.state === 'failed' && <Failed error={draft.error} />}
      <Confirm
        title={t.discard}
        open={discarding}
        onClose={() => setDiscarding(false)}
        submit={t.discard}
        danger
        onConfirm={async () => {
          await draft.discard()
          toast(t.discarded)
          go('/mailbox/mail')
        }}
      >
        <p>{t.discardHint}</p>
      </Confirm>
    </form>
  )
}

/** The text cursor is above the quote, where the answer belongs. */
const atStart = (wanted: boolean) => {
  let isDone = false
  return (area: HTMLTextAreaElement | null) => {
    if (!area || isDone || !wanted || area.dataset.ready) return
    isDone = true
    area.dataset.ready = 'true'
    area.setSelectionRange(0, 0)
    area.focus()
    area.scrollTop = 0
  }
}

/** The reason against sending the message; empty if there is none. */
function problemOf({ to, cc, bcc }: Typed): string {
  const [all, wrong] = [to, cc, bcc]
    .map(parseAddresses)
    .reduce<[number, string[]]>(
      ([count, bad], found) => [count + found.addresses.length, [...bad, ...found.wrong]],
      [0, []],
    )
  if (wrong[0]) return t.wrongAddress(wrong[0])
  return all === 0 ? t.needRecipient : ''
}
