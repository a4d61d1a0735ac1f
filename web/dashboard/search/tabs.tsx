import { Tabs } from '../../ui/tabs.tsx'
import { t } from './words.ts'

export const SearchTabs = () => (
  <Tabs
    label={t.title}
    tabs={[
      ['/app/search', t.title],
      ['/app/search/index', t.index],
    ]}
  />
)
