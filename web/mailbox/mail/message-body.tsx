import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useQuery } from '../../lib/query.ts'
import { visible } from '../../lib/visible.ts'
import { Failed } from '../../ui/failed.tsx'
import { htmlText, viewUrl } from './jmap.ts'
import { linked } from './links.ts'
import { subjectOf } from './message-rows.tsx'
import { hasHtml, isCut, plainText } from './read-mail.ts'
import type { Message } from './types.ts'
import { t } from './words.ts'

/** The text of a message. HTML is shown in a frame that runs nothing and belongs to no site. */
export function MessageBody({ accountId, message }: { accountId: string; message: Message }) {
  const [isPlain, setPlain] = useState(false)
  if (!hasHtml(message)) return <PlainText text={plainText(message) ?? ''} isCut={isCut(message)} />
  return (
    <Html accountId={accountId} message={message} isPlain={isPlain}>
      <button type="button" class="small" onClick={() => setPlain(!isPlain)}>
        {isPlain ? t.formatted : t.plain}
      </button>
    </Html>
  )
}

function Html({
  accountId,
  message,
  isPlain,
  children,
}: {
  accountId: string
  message: Message
  isPlain: boolean
  children: ComponentChildren
}) {
  const [withRemote, setWithRemote] = useState(false)
  const { blobId } = message
  const { data, error, again } = useQuery(`mailtext ${accountId} ${blobId}`, () =>
    htmlText(accountId, blobId),
  )
  const remote = data?.remote_pictures ?? 0
  return (
    <>
      <Failed error={error} again={again} />
      <p class="actions">
        {children}
        {remote > 0 && !isPlain && !withRemote && (
          <>
            <button type="button" class="small" onClick={() => setWithRemote(true)}>
              {t.showRemote}
            </button>
            <span class="hint">{t.remoteHidden(remote)}</span>
          </>
        )}
        {withRemote && !isPlain && <span class="hint">{t.remoteShown}</span>}
      </p>
      {isPlain ? (
        <PlainText text={plainText(message) ?? data?.text ?? ''} isCut={isCut(message)} />
      ) : (
        <iframe
          // Another page is another frame: a frame that changes its address adds to the history.
          key={String(withRemote)}
          class="mail-frame"
          title={t.content(visible(subjectOf(message.subject)))}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerpolicy="no-referrer"
          src={viewUrl(accountId, blobId, withRemote)}
        />
      )}
    </>
  )
}

const PlainText = ({ text, isCut }: { text: string; isCut: boolean }) => (
  <>
    <div class="mail-text" dir="auto">
      {linked(text).map(({ text, href }, index) =>
        href ? (
          <a key={index} href={href} target="_blank" rel="noopener noreferrer nofollow">
            {visibleText(text)}
          </a>
        ) : (
          visibleText(text)
        ),
      )}
    </div>
    {isCut && <p class="note">{t.cut}</p>}
  </>
)

/** Line breaks and tabs stay as they are. */
const visibleText = (text: string): string =>
  text
    .split(/([\n\t])/)
    .map((piece) => (piece === '\n' || piece === '\t' ? piece : visible(piece.replace(/\r/g, ''))))
    .join('')
