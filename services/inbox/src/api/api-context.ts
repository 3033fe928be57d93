import { createContext, useContext } from 'react';
import { ApiClient } from './client.js';

export const ApiContext = createContext(new ApiClient());

export function useApi(): ApiClient {
  return useContext(ApiContext);
}
