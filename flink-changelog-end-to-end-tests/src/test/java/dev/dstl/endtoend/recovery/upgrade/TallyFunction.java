/*
 * Copyright the DSTL authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.dstl.endtoend.recovery.upgrade;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Counts the rows of each key in state of every kind, and forwards the rows. Fails the job if the
 * content of a state is wrong.
 */
public final class TallyFunction extends KeyedProcessFunction<Integer, String, String> {

    private static final long serialVersionUID = 1L;
    private static final int LONGEST_LIST = 5;

    private transient ValueState<Tally> value;
    private transient ReducingState<Tally> reduced;
    private transient MapState<Integer, Tally> map;
    private transient ListState<Tally> list;

    @Override
    public void open(OpenContext context) {
        value =
                getRuntimeContext()
                        .getState(new ValueStateDescriptor<>("value", Types.POJO(Tally.class)));
        reduced =
                getRuntimeContext()
                        .getReducingState(
                                new ReducingStateDescriptor<>(
                                        "reduced", new Sum(), Types.POJO(Tally.class)));
        map =
                getRuntimeContext()
                        .getMapState(
                                new MapStateDescriptor<>(
                                        "map", Types.INT, Types.POJO(Tally.class)));
        list =
                getRuntimeContext()
                        .getListState(new ListStateDescriptor<>("list", Types.POJO(Tally.class)));
    }

    @Override
    public void processElement(String row, Context context, Collector<String> out)
            throws Exception {
        int key = context.getCurrentKey();
        Tally tally = value.value();
        if (tally == null) {
            tally = new Tally();
            tally.set(0);
        }
        verify(key, tally, tally.count);
        tally.increment();
        value.update(tally);
        reduce(key, tally.count);
        countInMap(key, tally.count);
        appendToList(key, tally.count);
        out.collect(row);
    }

    private void reduce(int key, long count) throws Exception {
        Tally before = reduced.get();
        if (before != null) {
            verify(key, before, count - 1);
        }
        Tally one = new Tally();
        one.set(1);
        reduced.add(one);
    }

    private void countInMap(int key, long count) throws Exception {
        int slot = (int) (count % 3);
        Tally entry = map.get(slot);
        if (entry == null) {
            entry = new Tally();
            entry.set(count / 3 - (slot == 0 ? 1 : 0));
        }
        verify(key, entry, count / 3 - (slot == 0 ? 1 : 0));
        entry.increment();
        map.put(slot, entry);
    }

    private void appendToList(int key, long count) throws Exception {
        long size = 0;
        for (Tally element : list.get()) {
            size++;
            verify(key, element, count - (count - 1) % LONGEST_LIST - 1 + size);
        }
        if (size != (count - 1) % LONGEST_LIST) {
            throw new IllegalStateException(
                    "Key " + key + " has " + size + " elements of a list at " + count);
        }
        if (size == LONGEST_LIST - 1) {
            list.clear();
        } else {
            Tally element = new Tally();
            element.set(count);
            list.add(element);
        }
    }

    private static void verify(int key, Tally tally, long count) {
        if (tally.count != count || !tally.complaint().isEmpty()) {
            throw new IllegalStateException(
                    String.format(
                            "State of key %d is damaged: %d instead of %d; %s",
                            key, tally.count, count, tally.complaint()));
        }
    }

    private static final class Sum implements ReduceFunction<Tally> {

        private static final long serialVersionUID = 1L;

        @Override
        public Tally reduce(Tally one, Tally other) {
            Tally sum = new Tally();
            sum.set(one.count + other.count);
            return sum;
        }
    }
}
