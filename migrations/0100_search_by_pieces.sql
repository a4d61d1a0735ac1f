-- What a search in all mailboxes looks for: every four characters of a text that follow each other.
-- Trigrams of pg_trgm end at each dot and hyphen, of which addresses are full: there `grace.kel` was
-- seven lists of some thousand mailboxes each; here it is three, each a tenth as long.

-- At the end of the text pieces are shorter, so that what is wanted always begins a piece.
create function search_pieces(content text) returns tsvector
  language plpgsql immutable strict parallel safe cost 3000 as $$
declare
  pieces text[];
begin
  for place in 1 .. length(content) loop
    pieces[place] := substr(content, place, 4);
  end loop;
  return array_to_tsvector(pieces);
end $$;

-- The pieces side by side, and the last; of less than a piece, whatever begins with it.
create function search_for(wanted text) returns tsquery
  language plpgsql immutable strict parallel safe as $$
declare
  whole text := lower(wanted);
  last integer := length(whole) - 3;
  pieces text[];
  mode text := '';
begin
  if last < 1 then
    pieces := array[whole];
    mode := ':*';
  else
    for place in 1 .. last - 1 by 4 loop
      pieces := pieces || substr(whole, place, 4);
    end loop;
    pieces := pieces || substr(whole, last);
  end if;
  return (
    select string_agg('''' || replace(replace(piece, '\', '\\'), '''', '''''') || '''' || mode, ' & ')
    from unnest(pieces) as piece
  )::tsquery;
end $$;

-- With the organization in it, a tenant's search costs as much as the tenant is large. Every search
-- reads what waits to be sorted into the index: by default the pieces of 2,500 mailboxes.
drop index email_accounts_search;
create index email_accounts_search on email_accounts
  using gin (organization_id, search_pieces(search_text)) with (gin_pending_list_limit = 256);
-- To analyze the pieces takes seconds, and changes no plan.
alter index email_accounts_search alter column 2 set statistics 0;
