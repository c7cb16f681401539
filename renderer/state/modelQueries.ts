// What the page keeps of the server's data about models beyond their list: plans, the hub, folders, remote engines, measurements.
import type { HubModel } from '@contract/models';
import type { Sharing } from '@contract/sharing';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { modelApi } from '../api/models';
import { queryClient } from './queries';

const keys = {
  plan: ['plan'] as const,
  devices: ['devices'] as const,
  discover: ['discover'] as const,
  repo: ['repo'] as const,
  folders: ['folders'] as const,
  locations: ['locations'] as const,
  connections: ['connections'] as const,
  engines: ['engines'] as const,
  sharing: ['sharing'] as const,
  matrix: ['matrix'] as const,
};

/** Whether it fits changes with every program that is opened, so a plan is never old. */
export const usePlan = (model: string, device?: string) =>
  useQuery({
    queryKey: [...keys.plan, model, device ?? ''],
    queryFn: () => modelApi.plan(model, device),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });

/** With what is free on each now. */
export const useDevices = () => useQuery({ queryKey: keys.devices, queryFn: modelApi.devices, staleTime: 10_000 });

export const useDiscover = (q: string) =>
  useInfiniteQuery({
    queryKey: [...keys.discover, q],
    queryFn: ({ pageParam }) => modelApi.discover(q, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.cursor,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

export const useRepo = (repo: string, enabled: boolean) =>
  useQuery({ queryKey: [...keys.repo, repo], queryFn: () => modelApi.repo(repo), enabled, staleTime: 60_000 });

/** Models of the hub whose files were asked for already. Asks nobody. */
export function useLookedAt(): HubModel[] {
  return queryClient.getQueriesData<HubModel>({ queryKey: keys.repo }).flatMap(([, model]) => (model ? [model] : []));
}

export const useFolders = () => useQuery({ queryKey: keys.folders, queryFn: modelApi.folders });

/** Asked again while something is being moved: a copy of a large folder takes minutes. */
export const useLocations = () =>
  useQuery({
    queryKey: keys.locations,
    queryFn: modelApi.locations,
    refetchInterval: ({ state }) => (state.data?.moves.some(isUnderWay) ? 1000 : false),
  });

const isUnderWay = ({ phase }: { phase: string }): boolean => phase !== 'done' && phase !== 'failed';

export const useConnections = () => useQuery({ queryKey: keys.connections, queryFn: modelApi.connections });

export const useEngines = () =>
  useQuery({ queryKey: keys.engines, queryFn: modelApi.engines, refetchInterval: 15_000 });

/** Asked again: networks come and go. */
export const useSharing = () =>
  useQuery({ queryKey: keys.sharing, queryFn: modelApi.sharing, refetchInterval: 15_000 });

/** Asked again while a check runs: it takes minutes and tells its stages. */
export const useMatrix = () =>
  useQuery({
    queryKey: keys.matrix,
    queryFn: modelApi.matrix,
    refetchInterval: ({ state }) => (state.data?.checks.some((check) => check.state === 'running') ? 2000 : false),
  });

const again = (key: readonly string[]) => (): void => void queryClient.invalidateQueries({ queryKey: key });

export const refreshModel = {
  plan: again(keys.plan),
  discover: (): void => (again(keys.discover)(), again(keys.repo)()),
  folders: (): void => (again(keys.folders)(), again(keys.locations)()),
  /** What is asked of other computers goes another way now. */
  network: (): void => (refreshModel.discover(), again(keys.engines)(), again(keys.connections)()),
  connections: again(keys.connections),
  engines: again(keys.engines),
  sharing: (now: Sharing): void => void queryClient.setQueryData(keys.sharing, now),
  matrix: again(keys.matrix),
};
