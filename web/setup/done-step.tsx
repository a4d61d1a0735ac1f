import { Icon } from '../ui/icon.tsx'
import { building, inbox, server } from '../ui/icons.ts'
import type { Progress } from './first-run.tsx'
import { TestMessage } from './test-message.tsx'
import { t } from './words.ts'

export const DoneStep = ({ progress: { hasOperator, mailbox, email } }: { progress: Progress }) => (
  <>
    <h1>{t.doneTitle}</h1>
    {hasOperator && email && <TestMessage to={mailbox ?? email} />}
    <p class="muted">{t.doneHint}</p>
    <ul class="tiles">
      <Tile href="/app" icon={building} title={t.toDashboard} hint={t.toDashboardHint} />
      {hasOperator && (
        <Tile href="/console" icon={server} title={t.toConsole} hint={t.toConsoleHint} />
      )}
      <Tile href="/?as=mailbox" icon={inbox} title={t.toMailbox} hint={t.toMailboxHint} />
    </ul>
  </>
)

const Tile = (tile: { href: string; icon: string; title: string; hint: string }) => (
  <li>
    <a href={tile.href}>
      <Icon path={tile.icon} size={22} />
      <span>
        <b>{tile.title}</b>
        <small>{tile.hint}</small>
      </span>
    </a>
  </li>
)
